-- A ring between one producer and one consumer, for each pair of CPUs. What it teaches: no atomic operation is needed, and
-- the indices should be on lines of their own. `apart = false` puts both on one line.
title = "Rings between producers and consumers"
parameters = {
  { name = "slots", default = 16, min = 1, max = 4096, meaning = "of each ring" },
  { name = "apart", default = true, meaning = "the indices on lines of their own" },
  { name = "work_cycles", default = 200, min = 1, max = 1e9, meaning = "mean time to make or use an item" },
}
tallies = { "consumed", "produced" }

function setup()
  local tail_at = workload.apart and machine.line_bytes or 8
  local ring = structure { name = "ring", "head", { "tail", at = tail_at },
    { "slot", at = 2 * machine.line_bytes, count = workload.slots }, align = "line" }
  rings = place(ring, "ring", { count = (machine.cpus + 1) // 2 })
end

local produce = named("produce", function(cpu, ring, item)
  cpu:spin_until_acquire(ring.head, ">", item - workload.slots) -- waits until the slot is free again
  cpu:store(ring.slot[item % workload.slots], item)
  cpu:store_release(ring.tail, item + 1)
  cpu:tally("produced")
end)

local consume = named("consume", function(cpu, ring, item)
  cpu:spin_until_acquire(ring.tail, ">", item)
  assert(cpu:load(ring.slot[item % workload.slots]) == item, "an item was lost or overwritten")
  cpu:store_release(ring.head, item + 1)
  cpu:tally("consumed")
end)

function run(cpu)
  local ring = rings[cpu.id // 2]
  local work = cpu.id % 2 == 0 and produce or consume
  local item = 0
  while true do
    cpu:compute_about(workload.work_cycles)
    work(cpu, ring, item)
    item = item + 1
  end
end
