-- The queue of Linux 4.4's spin lock, whose head prefetches its successor's node while it waits for the lock. What it teaches: a
-- line that will be written can be fetched while there is nothing else to do.
title = "Linux's queued spin lock: its queue's head prefetches the next node, or does not"
parameters = {
  { name = "prefetch", default = 1, min = 0, max = 1, meaning = "whether it does" },
  { name = "inside_cycles", default = 1000, min = 0, max = 1e9, meaning = "computed by the holder" },
  { name = "outside_cycles", default = 100, min = 0, max = 1e9, meaning = "computed between two sections" },
}

local NOBODY <const> = 0 -- CPUs are written as their number + 1

function setup()
  word = place(structure { name = "qspinlock", "locked:1", { "tail", at = 2, bytes = 2 }, align = "line" }, "qspinlock")
  nodes = place_per_cpu(structure { name = "qnode", "next", "served:4", align = 64 }, "qnode")
end

local acquire = named("queued_spin_lock_slowpath", function(cpu, me, mine)
  cpu:store(mine.served, 0)
  cpu:store(mine.next, NOBODY)
  local before = cpu:exchange(word.tail, me)
  local next = NOBODY
  if before ~= NOBODY then
    cpu:store(nodes[before - 1].next, me)
    cpu:spin_until_acquire(mine.served, "==", 1)
    next = cpu:load(mine.next)
    if next ~= NOBODY and workload.prefetch == 1 then cpu:prefetch(nodes[next - 1].served, "write") end
  end
  cpu:spin_until_acquire(word.locked, "==", 0)
  cpu:store(word.locked, 1)
  if cpu:load(word.tail) == me and cpu:compare_exchange(word.tail, me, NOBODY) == me then return end
  if next == NOBODY then next = cpu:spin_until(mine.next, "~=", NOBODY) end
  cpu:store_release(nodes[next - 1].served, 1)
end)

function run(cpu)
  local me, mine = cpu.id + 1, nodes[cpu.id]
  while true do
    acquire(cpu, me, mine)
    cpu:compute_about(workload.inside_cycles)
    cpu:store_release(word.locked, 0)
    cpu:tally()
    cpu:compute_about(workload.outside_cycles)
  end
end
