-- Test-and-set: the shortest lock. What it teaches: every attempt is an atomic write, so waiters constantly take the line from
-- the holder and from each other.
title = "Test-and-set: every attempt is an atomic exchange"
library = "C++ (std::atomic_flag)"
traits = { fits_4_bytes = true }

function setup()
  return lock_word(structure { name = "tas_lock", "locked" })
end

function acquire(cpu, lock)
  if cpu:exchange(lock.locked, 1) == 0 then return false end
  cpu:waits()
  repeat cpu:compute(2) until cpu:exchange(lock.locked, 1) == 0 -- 2 cycles for compare and branch
  return true
end

function try_acquire(cpu, lock)
  return cpu:exchange(lock.locked, 1) == 0
end

function release(cpu, lock)
  cpu:store_release(lock.locked, 0)
end
