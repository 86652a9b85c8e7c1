-- Test-and-test-and-set whose waiters spin without a pause instruction. What it teaches: a spinning hardware thread takes issue
-- slots from its sibling thread, which may be the lock's holder. Compare with ttas.lua on a machine that models this:
-- --set machine.cpu.spinning_sibling_pct=60 --set machine.cpu.pausing_sibling_pct=95
title = "Test-and-test-and-set without a pause"

function setup()
  return lock_word(structure { name = "tight_ttas_lock", "locked:4" })
end

function acquire(cpu, lock)
  if cpu:exchange(lock.locked, 1) == 0 then return false end
  repeat
    cpu:spin_without_pause(lock.locked, "==", 0)
  until cpu:exchange(lock.locked, 1) == 0
  return true
end

function try_acquire(cpu, lock)
  return cpu:exchange(lock.locked, 1) == 0
end

function release(cpu, lock)
  cpu:store_release(lock.locked, 0)
end
