-- A test-and-set lock whose waiters only read until it looks free. What it teaches: a waiter that only reads keeps a copy of
-- the line, and does not disturb the holder until the release.
title = "@NAME@: a spin lock to begin with"

-- Lays out the lock: one word, alone on its cache line. A word is "name:bytes", or "name" for 8 bytes.
function setup()
  return lock_word(structure { name = "spin_lock", "held:4", align = "line" })
end

-- Returns true if it had to wait; `cpu` is the CPU that wants the lock. docs/programs.md lists all operations of a CPU.
function acquire(cpu, lock)
  local waited = false
  while cpu:exchange(lock.held, 1) ~= 0 do
    waited = true
    cpu:spin_until(lock.held, "==", 0)
  end
  return waited
end

-- Optional: once, without waiting.
function try_acquire(cpu, lock)
  return cpu:exchange(lock.held, 1) == 0
end

function release(cpu, lock)
  cpu:store_release(lock.held, 0)
end
