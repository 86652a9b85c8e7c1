-- BRAVO (Dice and Kogan, USENIX ATC 2019): a reader-writer lock whose readers only set a mark on their CPU's own line until a
-- writer comes. What it teaches: reading gets cheap, but a writer must check the marks of all CPUs.
title = "BRAVO: each reader leaves its own mark, and a writer checks all marks"
traits = { readers = "together", readers_nest = false }

local WRITER <const> = 1 << 32
local SLOW_READS <const> = 8 -- after a writer, this many reads use the count before readers use marks again

function setup(name)
  local lock = lock_word(structure { name = "bravo_lock", "count", "bias", "slow_reads" })
  lock.marks = place_per_cpu(structure { name = "bravo_mark", "inside" }, name .. ".mark")
  preset(lock.bias, 1)
  return lock
end

function acquire(cpu, lock)
  local waited = false
  while cpu:compare_exchange(lock.count, 0, WRITER) ~= 0 do
    waited = true
    cpu:spin_until(lock.count, "==", 0)
  end
  if cpu:load(lock.bias) == 0 then return waited end
  cpu:store(lock.bias, 0)
  cpu:store(lock.slow_reads, 0)
  cpu:fence() -- either the loop below sees a reader's mark, or that reader sees that the bias is 0
  for reader = 0, machine.cpus - 1 do cpu:spin_until_acquire(lock.marks[reader].inside, "==", 0) end
  return true
end

function release(cpu, lock)
  cpu:fetch_add(lock.count, -WRITER)
end

function acquire_shared(cpu, lock)
  local mark = lock.marks[cpu.id].inside
  lock.marked = false
  if cpu:load(lock.bias) == 1 then
    cpu:store(mark, 1)
    cpu:fence()
    lock.marked = cpu:load_acquire(lock.bias) == 1
    if lock.marked then return false end
    cpu:store(mark, 0)
  end
  while cpu:fetch_add(lock.count, 1) >= WRITER do
    cpu:fetch_add(lock.count, -1)
    cpu:spin_until(lock.count, "<", WRITER)
  end
  if cpu:fetch_add(lock.slow_reads, 1) == SLOW_READS then cpu:store(lock.bias, 1) end
  return true
end

function release_shared(cpu, lock)
  if lock.marked then cpu:store_release(lock.marks[cpu.id].inside, 0) else cpu:fetch_add(lock.count, -1) end
end
