-- False sharing, and its cure: each CPU counts in a word of its own. What it teaches: packed words share
-- lines, which bounce although no word is shared. One line per CPU avoids that. Compare `linebounce lines` of both.
title = "Each CPU counts in a word of its own"
parameters = {
  { name = "cure", default = false, meaning = "each word on a line of its own" },
  { name = "apart_bytes", default = 8, min = 8, max = 4096, meaning = "without the cure: from one word to the next" },
  { name = "atomic", default = false, meaning = "count by an atomic addition, not by a load and a store" },
  { name = "outside_cycles", default = 100, min = 0, max = 1e9, meaning = "computed between two counts" },
}

function setup()
  local counter = structure { name = "counter", "count", align = workload.cure and "line" or workload.apart_bytes }
  counters = place(counter, "counter", { count = machine.cpus })
end

function run(cpu)
  local mine = counters[cpu.id]
  while true do
    if workload.atomic then
      cpu:fetch_add(mine.count, 1)
    else
      cpu:store(mine.count, cpu:load(mine.count) + 1)
    end
    cpu:tally()
    cpu:compute(workload.outside_cycles)
  end
end
