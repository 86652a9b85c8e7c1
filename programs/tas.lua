-- Test-and-set: the shortest lock. What it teaches: every attempt is an atomic write, so the waiters take the line from the
-- holder, and from each other, all the time.
title = "Test-and-set"
traits = { fits_4_bytes = true }

function setup()
  return lock_word(structure { name = "tas_lock", "held:4" })
end

function acquire(cpu, lock)
  local waited = false
  while cpu:exchange(lock.held, 1) ~= 0 do waited = true end
  return waited
end

function try_acquire(cpu, lock)
  return cpu:exchange(lock.held, 1) == 0
end

function release(cpu, lock)
  cpu:store_release(lock.held, 0)
end
