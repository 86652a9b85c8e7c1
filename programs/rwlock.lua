-- A reader-writer lock in one word: readers count themselves, a writer sets a bit. What it teaches: readers inside together
-- still take the line from each other, twice for each section, so that short sections gain little from it.
title = "Reader-writer lock: one counter"
traits = { readers = "together" }

local WRITER <const> = 1 << 32

function setup()
  return lock_word(structure { name = "rw_lock", "count" })
end

function acquire(cpu, lock)
  local waited = false
  while cpu:compare_exchange(lock.count, 0, WRITER) ~= 0 do
    waited = true
    cpu:spin_until(lock.count, "==", 0)
  end
  return waited
end

function try_acquire(cpu, lock)
  return cpu:compare_exchange(lock.count, 0, WRITER) == 0
end

-- A reader may have counted itself meanwhile, for a moment.
function release(cpu, lock)
  cpu:fetch_add(lock.count, -WRITER)
end

function acquire_shared(cpu, lock)
  local waited = false
  while cpu:fetch_add(lock.count, 1) >= WRITER do
    waited = true
    cpu:fetch_add(lock.count, -1)
    cpu:spin_until(lock.count, "<", WRITER)
  end
  return waited
end

function release_shared(cpu, lock)
  cpu:fetch_add(lock.count, -1)
end
