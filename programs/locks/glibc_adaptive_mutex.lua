-- glibc's PTHREAD_MUTEX_ADAPTIVE_NP (2.36): a CPU that finds the mutex held tries again for a while, with pauses that double,
-- before it sleeps in the kernel; how long it tries follows how long it took before. What it teaches: spinning pays as long as
-- a section is shorter than a sleep.
title = "glibc: PTHREAD_MUTEX_ADAPTIVE_NP; tries for a while, then sleeps in the kernel"
library = "glibc (PTHREAD_MUTEX_ADAPTIVE_NP)"
traits = { sleeps = true }

local FREE <const>, HELD <const>, WAITED_FOR <const> = 0, 1, 2
local MOST_PAUSES <const>, LONGEST <const> = 100, 16
local PAUSE_CYCLES <const> = 40 -- x86's `pause`: 10 cycles before Skylake, 140 since; Zen between 40 and 65
local INSTRUCTIONS <const> = 30 -- besides those here, as in glibc_mutex

-- `spins`: about how many pauses it took lately.
function setup()
  futexes()
  return lock_word(structure { name = "glibc_adaptive_mutex", "word:4", "owner:2", "spins:2" })
end

local function taken(cpu, lock) return cpu:compare_exchange(lock.word, FREE, HELD) == FREE end

local function sleep(cpu, lock)
  if taken(cpu, lock) then return end
  if cpu:load(lock.word) == WAITED_FOR then cpu:futex_wait(lock.word, WAITED_FOR) end
  while cpu:exchange(lock.word, WAITED_FOR) ~= FREE do cpu:futex_wait(lock.word, WAITED_FOR) end
end

local function wait(cpu, lock)
  local most = math.min(MOST_PAUSES, 2 * cpu:load(lock.spins) + 10)
  local jitter, count, pause = cpu:random(LONGEST), 0, 1
  repeat
    local pauses = pause + (jitter & (pause - 1))
    count, pause = count + pauses, math.min(2 * pause, LONGEST)
    if count >= most then sleep(cpu, lock) break end
    cpu:compute(PAUSE_CYCLES * pauses)
  until cpu:load(lock.word) == FREE and taken(cpu, lock)
  local spins = cpu:load(lock.spins)
  cpu:store(lock.spins, spins + (count < spins and -((spins - count) // 8) or (count - spins) // 8))
end

function try_acquire(cpu, lock)
  cpu:execute(INSTRUCTIONS)
  cpu:load(lock.owner)
  local at_once = taken(cpu, lock)
  if at_once then cpu:store(lock.owner, cpu.id + 1) end
  return at_once
end

function acquire(cpu, lock)
  if try_acquire(cpu, lock) then return false end
  wait(cpu, lock)
  cpu:store(lock.owner, cpu.id + 1)
  return true
end

function release(cpu, lock)
  cpu:execute(INSTRUCTIONS)
  cpu:store(lock.owner, 0)
  if cpu:exchange(lock.word, FREE) == WAITED_FOR then cpu:futex_wake(lock.word) end
end
