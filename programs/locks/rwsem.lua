-- A reader-writer semaphore like Linux 2.6's. If no CPU waits, an acquisition is one atomic operation; otherwise CPUs sleep in
-- a queue, which serves adjacent readers together. What it teaches: one word must tell a CPU that leaves whether others sleep.
title = "rwsem: readers share it; waiters sleep in a queue"
traits = { readers = "together", readers_nest = false, sleeps = true }

local WRITER <const>, QUEUED <const>, READER <const>, NOBODY <const> = 1, 2, 4, -1 -- two flags, the amount per reader, no CPU

function setup(name)
  local lock = lock_word(structure { name = "rwsem", "count:4", "guard:4" })
  lock.queue = place(structure { name = "rwsem_queue", "first", "last", align = "line" }, name .. ".queue")
  lock.waiters = place_per_cpu(structure { name = "rwsem_waiter", "next", "share:4", "waits:4" }, name .. ".waiter")
  preset(lock.queue.first, NOBODY)
  return lock
end

local function guarded(cpu, lock, work)
  while cpu:exchange(lock.guard, 1) ~= 0 do cpu:spin_until(lock.guard, "==", 0) end
  work()
  local first = cpu:load(lock.queue.first)
  while first ~= NOBODY do -- grants the lock to the first waiter; if that is a reader, also to the readers right behind it
    local one, count = lock.waiters[first], cpu:load(lock.count)
    local share, after = cpu:load(one.share), cpu:load(one.next)
    if count & WRITER ~= 0 or (share == WRITER and count >= READER) then break end
    if cpu:compare_exchange(lock.count, count, count + share - (after == NOBODY and QUEUED or 0)) == count then
      cpu:store(lock.queue.first, after)
      cpu:exchange(one.waits, 0)
      cpu:wake(first)
      first = after
    end
  end
  cpu:store_release(lock.guard, 0)
end

-- Sleeps in the queue until this CPU has the lock. `added`: what the caller's failed attempt has added to the count.
local function queue(cpu, lock, share, added)
  local mine = lock.waiters[cpu.id]
  cpu:store(mine.next, NOBODY)
  cpu:store(mine.share, share)
  cpu:store(mine.waits, 1)
  guarded(cpu, lock, function()
    local empty = cpu:load(lock.queue.first) == NOBODY
    cpu:store(empty and lock.queue.first or lock.waiters[cpu:load(lock.queue.last)].next, cpu.id)
    cpu:store(lock.queue.last, cpu.id)
    cpu:fetch_add(lock.count, (empty and QUEUED or 0) - added)
  end)
  while cpu:load_acquire(mine.waits) == 1 do cpu:sleep() end
  return true
end
local function leave(cpu, lock, share)
  local left = cpu:fetch_add(lock.count, -share) - share
  if left & QUEUED ~= 0 and left < READER then guarded(cpu, lock, function() end) end
end

function acquire(cpu, lock) return cpu:compare_exchange(lock.count, 0, WRITER) ~= 0 and queue(cpu, lock, WRITER, 0) end
function release(cpu, lock) leave(cpu, lock, WRITER) end
function release_shared(cpu, lock) leave(cpu, lock, READER) end
function acquire_shared(cpu, lock)
  return cpu:fetch_add(lock.count, READER) & (WRITER | QUEUED) ~= 0 and queue(cpu, lock, READER, READER)
end
