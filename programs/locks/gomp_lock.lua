-- The lock of gcc's OpenMP (libgomp 12): omp_set_lock, and `critical`. A CPU that finds it held reads the word until that
-- changes, and then tries. What it teaches: a runtime that has the machine to itself spins. After 300,000 pauses, several
-- milliseconds, a thread would sleep in the kernel; that is left out here.
title = "OpenMP of gcc: omp_lock_t, critical; spins for milliseconds"
library = "libgomp (omp_lock_t, critical)"
traits = { fits_4_bytes = true }

local FREE <const>, HELD <const> = 0, 1

function setup()
  return lock_word(structure { name = "gomp_lock", "word:4" })
end

function try_acquire(cpu, lock) return cpu:compare_exchange(lock.word, FREE, HELD) == FREE end

function acquire(cpu, lock)
  if try_acquire(cpu, lock) then return false end
  repeat cpu:spin_until(lock.word, "~=", HELD) until try_acquire(cpu, lock)
  return true
end

function release(cpu, lock) cpu:exchange(lock.word, FREE) end
