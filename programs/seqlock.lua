-- A seqlock: readers write nothing at all, and read again if a writer came between. What it teaches: the second look at the
-- sequence is the whole lock of a reader; a reader that forgets it sees half of a change.
title = "Seqlock: readers write nothing, and read again"
traits = { readers = "read_again" }

function setup()
  return lock_word(structure { name = "seqlock", "held:4", "sequence:4" })
end

function acquire(cpu, lock)
  local waited = false
  while cpu:exchange(lock.held, 1) ~= 0 do
    waited = true
    cpu:spin_until(lock.held, "==", 0)
  end
  cpu:store(lock.sequence, cpu:load(lock.sequence) + 1) -- odd: a change is under way
  cpu:store_fence()
  return waited
end

function release(cpu, lock)
  cpu:store_release(lock.sequence, cpu:load(lock.sequence) + 1)
  cpu:store_release(lock.held, 0)
end

function acquire_shared(cpu, lock)
  local even = cpu:load_acquire(lock.sequence)
  local waited = even & 1 == 1
  if waited then even = cpu:spin_until_acquire(lock.sequence, "==", 0, 1) end
  lock.seen = even
  return waited
end

function release_shared(cpu, lock)
  return cpu:load_acquire(lock.sequence) == lock.seen -- false: read again
end
