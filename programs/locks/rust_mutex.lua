-- std::sync::Mutex of Rust on Linux (1.62 and later): looks at the word for a while as long as nobody else sleeps for it, then
-- sleeps in the kernel. What it teaches: whoever has slept marks the mutex as waited for, because others may still sleep.
title = "Rust: std::sync::Mutex; looks for a while, then sleeps in the kernel"
library = "Rust (std::sync::Mutex)"
traits = { sleeps = true, fits_4_bytes = true }

local FREE <const>, HELD <const>, WAITED_FOR <const> = 0, 1, 2
-- Rust looks 100 times with a `pause` between, of about 40 cycles. Here are as long pauses between fewer looks, because each
-- look multiplies the interleavings that check-lock tries.
local LOOKS <const>, PAUSE_CYCLES <const> = 16, 250

function setup()
  futexes()
  return lock_word(structure { name = "rust_mutex", "word:4" })
end

local function look(cpu, lock)
  for _ = 1, LOOKS do
    local seen = cpu:load(lock.word)
    if seen ~= HELD then return seen end
    cpu:compute(PAUSE_CYCLES)
  end
  return cpu:load(lock.word)
end

local function wait(cpu, lock)
  local seen = look(cpu, lock)
  if seen == FREE then
    seen = cpu:compare_exchange(lock.word, FREE, HELD)
    if seen == FREE then return end
  end
  while seen == WAITED_FOR or cpu:exchange(lock.word, WAITED_FOR) ~= FREE do
    cpu:futex_wait(lock.word, WAITED_FOR)
    seen = look(cpu, lock)
  end
end

function try_acquire(cpu, lock) return cpu:compare_exchange(lock.word, FREE, HELD) == FREE end

function acquire(cpu, lock)
  local at_once = try_acquire(cpu, lock)
  if not at_once then wait(cpu, lock) end
  return not at_once
end

function release(cpu, lock)
  if cpu:exchange(lock.word, FREE) == WAITED_FOR then cpu:futex_wake(lock.word) end
end
