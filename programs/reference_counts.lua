-- Reference counts, three ways: one atomic word; a word for each CPU, added up on demand; and lockref, a lock and a count in
-- one word, changed by compare-and-exchange while the lock is free. What it teaches: an atomic add is cheap, its line is not.
title = "Reference counts: atomic, per CPU, lockref"
parameters = {
  { name = "kind", default = "atomic", choices = { "atomic", "per_cpu", "lockref" }, meaning = "how references are counted" },
  { name = "held_cycles", default = 100, min = 1, max = 1e9, meaning = "mean time for which a reference is held" },
  { name = "outside_cycles", default = 500, min = 1, max = 1e9, meaning = "mean time between two references" },
}
tallies = { "references", "retries" }

local kinds = {}

function setup()
  object = place(structure { name = "object", "count", align = "line" }, "object")
  counts = place_per_cpu(structure { name = "object_count", "count" }, "object_count")
end

function kinds.atomic(cpu, change)
  assert(cpu:fetch_add(object.count, change) >= 0, "more references were dropped than taken")
end

function kinds.per_cpu(cpu, change)
  local mine = counts[cpu.id].count
  cpu:store(mine, cpu:load(mine) + change)
end

-- The lower half of the word is the lock, which nobody takes here.
function kinds.lockref(cpu, change)
  local seen = cpu:load(object.count)
  while true do
    local before = cpu:compare_exchange(object.count, seen, seen + (change << 32))
    if before == seen then return end
    cpu:tally("retries")
    seen = before
  end
end

local get = named("get", function(cpu, count) count(cpu, 1) end)
local put = named("put", function(cpu, count) count(cpu, -1) end)

function run(cpu)
  local count = kinds[workload.kind]
  while true do
    get(cpu, count)
    cpu:compute_about(workload.held_cycles)
    put(cpu, count)
    cpu:tally()
    cpu:compute_about(workload.outside_cycles)
  end
end
