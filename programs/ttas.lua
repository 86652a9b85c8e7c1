-- Test and test-and-set: wait by reading, then try. What it teaches: waiters share the line while the lock is held, and cost
-- nothing; the price comes at the release, when all of them try at once.
title = "Test and test-and-set"
traits = { fits_4_bytes = true }

function setup()
  return lock_word(structure { name = "ttas_lock", "held:4" })
end

function acquire(cpu, lock)
  local waited = false
  while cpu:exchange(lock.held, 1) ~= 0 do
    waited = true
    cpu:spin_until(lock.held, "==", 0)
  end
  return waited
end

function try_acquire(cpu, lock)
  return cpu:load(lock.held) == 0 and cpu:exchange(lock.held, 1) == 0
end

function release(cpu, lock)
  cpu:store_release(lock.held, 0)
end
