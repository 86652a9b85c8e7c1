-- glibc's default mutex (2.25 to 2.41), std::mutex and C11's mtx_t on Linux: a CPU that finds it held sleeps in the kernel at
-- once, and whoever is woken competes with those that run. What it teaches: a word with a third value, "somebody may sleep",
-- so that a release without waiters needs no system call.
title = "glibc: pthread_mutex_t, std::mutex; waiters sleep in the kernel at once"
library = "glibc (pthread_mutex_t, std::mutex)"
traits = { sleeps = true }

local FREE <const>, HELD <const>, WAITED_FOR <const> = 0, 1, 2

-- `owner` stands for the structure's other members in the word's line: lock() reads the kind, and writes owner and users.
function setup()
  futexes()
  return lock_word(structure { name = "glibc_mutex", "word:4", "owner:4" })
end

-- 66 instructions lock and unlock a mutex of glibc 2.36 (counted by callgrind); six of them are here.
local function taken(cpu, lock)
  cpu:execute(30)
  cpu:load(lock.owner)
  return cpu:compare_exchange(lock.word, FREE, HELD) == FREE
end
local function keep(cpu, lock) cpu:store(lock.owner, cpu.id + 1) end

function acquire(cpu, lock)
  local at_once = taken(cpu, lock)
  if not at_once then
    if cpu:load(lock.word) == WAITED_FOR then cpu:futex_wait(lock.word, WAITED_FOR) end
    while cpu:exchange(lock.word, WAITED_FOR) ~= FREE do cpu:futex_wait(lock.word, WAITED_FOR) end
  end
  keep(cpu, lock)
  return not at_once
end

function try_acquire(cpu, lock)
  if not taken(cpu, lock) then return false end
  keep(cpu, lock)
  return true
end

function release(cpu, lock)
  cpu:execute(30)
  cpu:store(lock.owner, 0)
  if cpu:exchange(lock.word, FREE) == WAITED_FOR then cpu:futex_wake(lock.word) end
end
