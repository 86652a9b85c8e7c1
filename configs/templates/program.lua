-- Every CPU adds to one counter. What it teaches: the line of the counter moves at each addition.
title = "@NAME@: one counter for all CPUs"
parameters = {
  { name = "outside_cycles", default = 100, min = 0, max = 1e9, meaning = "computed between two additions" },
}

-- Runs once, before simulated time begins: places the objects that the CPUs share.
function setup()
  local counter = structure { name = "counter", "value", align = "line" }
  shared = place(counter, "shared")
end

-- Runs on every CPU; cpu.id is its number, from 0 on. cpu:tally() counts an operation; throughput is calculated from this.
function run(cpu)
  while true do
    cpu:fetch_add(shared.value, 1)
    cpu:tally()
    cpu:compute(workload.outside_cycles)
  end
end
