-- glibc's PTHREAD_MUTEX_ADAPTIVE_NP (2.36): a CPU that finds the mutex held tries again for a while, with pauses that double,
-- before it sleeps in the kernel; how long it tries follows how long it took before. What it teaches: spinning pays as long as
-- a section is shorter than a sleep.
title = "glibc: PTHREAD_MUTEX_ADAPTIVE_NP; tries for a while, then sleeps in the kernel"
library = "glibc (PTHREAD_MUTEX_ADAPTIVE_NP)"
traits = { sleeps = true }

local FREE <const>, HELD <const>, WAITED_FOR <const> = 0, 1, 2
local MOST_TRIES <const>, LONGEST_PAUSE <const>, PAUSE_CYCLES <const> = 100, 16, 40

-- `spins` is the mean number of tries, and stands for the structure's other members in the word's line.
function setup()
  futexes()
  return lock_word(structure { name = "glibc_adaptive_mutex", "word:4", "spins:4" })
end

local function taken(cpu, lock) return cpu:compare_exchange(lock.word, FREE, HELD) == FREE end

local function sleep(cpu, lock)
  if cpu:load(lock.word) == WAITED_FOR then cpu:futex_wait(lock.word, WAITED_FOR) end
  while cpu:exchange(lock.word, WAITED_FOR) ~= FREE do cpu:futex_wait(lock.word, WAITED_FOR) end
end

local function wait(cpu, lock)
  local spins = cpu:load(lock.spins)
  local most, count, pause = math.min(MOST_TRIES, 2 * spins + 10), 0, 1
  repeat
    if count >= most then
      sleep(cpu, lock)
      break
    end
    local pauses = pause + cpu:random(pause)
    count, pause = count + pauses, math.min(2 * pause, LONGEST_PAUSE)
    cpu:compute(PAUSE_CYCLES * pauses)
  until cpu:load(lock.word) == FREE and taken(cpu, lock)
  cpu:store(lock.spins, math.max(0, spins + (count - spins) // 8))
end

function acquire(cpu, lock)
  cpu:execute(30)
  local at_once = taken(cpu, lock)
  if not at_once then wait(cpu, lock) end
  return not at_once
end

function try_acquire(cpu, lock)
  cpu:execute(30)
  return taken(cpu, lock)
end

function release(cpu, lock)
  cpu:execute(30)
  if cpu:exchange(lock.word, FREE) == WAITED_FOR then cpu:futex_wake(lock.word) end
end
