-- A seqlock: readers write nothing at all, and read again if a writer came meanwhile. What it teaches: a reader's only
-- protection is its second load of the sequence number. Without that load, a reader may use data that is half changed.
title = "Seqlock: readers write nothing and retry if a writer came between"
library = "ConcurrencyKit (ck_sequence)"
traits = { readers = "read_again" }

function setup()
  local lock = lock_word(structure { name = "seqlock", "sequence:4", "locked:4" })
  lock.seen = {} -- stack: the sequence number at the start of each of this CPU's nested read sections
  return lock
end

local function begin_write(cpu, lock)
  cpu:store(lock.sequence, cpu:load(lock.sequence) + 1) -- odd: a change is under way
  cpu:store_fence()
end

function acquire(cpu, lock)
  local waited = false
  while cpu:exchange(lock.locked, 1) ~= 0 do
    waited = true
    cpu:spin_until(lock.locked, "==", 0)
  end
  begin_write(cpu, lock)
  return waited
end

function try_acquire(cpu, lock)
  if cpu:exchange(lock.locked, 1) ~= 0 then return false end
  begin_write(cpu, lock)
  return true
end

function release(cpu, lock)
  cpu:store_release(lock.sequence, cpu:load(lock.sequence) + 1)
  cpu:store_release(lock.locked, 0)
end

function acquire_shared(cpu, lock)
  local even = cpu:load_acquire(lock.sequence)
  local waited = even & 1 == 1
  if waited then even = cpu:spin_until_acquire(lock.sequence, "==", 0, 1) end
  table.insert(lock.seen, even)
  return waited
end

function release_shared(cpu, lock)
  cpu:load_fence() -- the section's loads come before this one
  return cpu:load(lock.sequence) == table.remove(lock.seen) -- false: read again
end
