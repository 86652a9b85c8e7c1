-- Test-and-test-and-set: waiters only read until the lock looks free, and then try, as Linux 2.4 and 2.6 did on i386 (decb,
-- then a loop of loads). What it teaches: waiters share the line and cost nothing while the lock is held. The cost comes at the
-- release, when all waiters try at once.
title = "Test-and-test-and-set: reads until the lock looks free (Linux 2.4 and 2.6 on i386)"
library = "glibc (pthread_spin_lock)"
traits = { fits_4_bytes = true }

function setup()
  return lock_word(structure { name = "ttas_lock", "locked" })
end

function acquire(cpu, lock)
  if cpu:exchange(lock.locked, 1) == 0 then return false end
  repeat cpu:spin_until(lock.locked, "==", 0) until cpu:exchange(lock.locked, 1) == 0
  return true
end

function try_acquire(cpu, lock)
  return cpu:exchange(lock.locked, 1) == 0
end

function release(cpu, lock)
  cpu:store_release(lock.locked, 0)
end
