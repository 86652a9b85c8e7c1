-- A reader-writer semaphore with a count of readers for each CPU (Linux's percpu_rw_semaphore, 3.8), in its slow mode, in which
-- readers need fences. What it teaches: readers write no shared line, but a writer must check the counts of all CPUs.
title = "percpu-rwsem: a reader count per CPU"
traits = { readers = "together", readers_nest = false, sleeps = true }

function setup(name)
  local lock = lock_word(structure { name = "percpu_rwsem", "writer:4", "block:4" })
  lock.readers = place_per_cpu(structure { name = "percpu_rwsem_readers", "inside" }, name .. ".readers")
  lock.sleeper = place(structure { name = "percpu_rwsem_sleeper", "cpu", align = "line" }, name .. ".sleeper")
  return lock
end

function acquire(cpu, lock)
  local waited = false
  while cpu:exchange(lock.writer, 1) ~= 0 do
    waited = true
    cpu:spin_until(lock.writer, "==", 0)
  end
  cpu:store(lock.sleeper.cpu, cpu.id)
  cpu:store(lock.block, 1)
  cpu:fence() -- either the loop below sees a reader, or that reader sees lock.block
  for reader = 0, machine.cpus - 1 do
    while cpu:load_acquire(lock.readers[reader].inside) ~= 0 do
      waited = true
      cpu:sleep()
    end
  end
  return waited
end

function release(cpu, lock)
  cpu:store_release(lock.block, 0)
  cpu:store_release(lock.writer, 0)
end

local function leave(cpu, lock)
  cpu:store_release(lock.readers[cpu.id].inside, 0)
  cpu:fence() -- orders the store before the load of lock.block and before the wake-up, so that the writer sees it
  if cpu:load(lock.block) == 1 then cpu:wake(cpu:load(lock.sleeper.cpu)) end
end

function acquire_shared(cpu, lock)
  local waited = false
  cpu:store(lock.readers[cpu.id].inside, 1)
  cpu:fence()
  while cpu:load_acquire(lock.block) == 1 do
    waited = true
    leave(cpu, lock)
    cpu:spin_until(lock.block, "==", 0)
    cpu:store(lock.readers[cpu.id].inside, 1)
    cpu:fence()
  end
  return waited
end

function release_shared(cpu, lock) leave(cpu, lock) end
