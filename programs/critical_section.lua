-- All CPUs take one lock and write one line that it protects. What it teaches: how a program is written, and how a lock is
-- chosen: --set workload.lock=mcs, or a file, --set workload.lock=my_lock.lua. The C++ workload of this name does the same.
title = "All CPUs acquire one lock and write the data that it protects"
parameters = {
  { name = "lock", default = "ticket", lock = true, meaning = "which lock protects the section" },
  { name = "inside_cycles", default = 50, min = 0, max = 1e9, meaning = "computed inside, beside the data" },
  { name = "outside_cycles", default = 1000, min = 1, max = 1e9, meaning = "mean computed outside" },
}

function setup()
  section_lock = lock(workload.lock, "section_lock")
  data = place(structure { name = "protected_data", "count", align = "line" }, "protected_data")
end

local critical_section = named("critical_section", function(cpu)
  cpu:acquire(section_lock)
  cpu:store(data.count, cpu:load(data.count) + 1)
  cpu:compute(workload.inside_cycles)
  cpu:release(section_lock)
end)

function run(cpu)
  while true do
    cpu:compute_about(workload.outside_cycles)
    critical_section(cpu)
    cpu:tally()
  end
end
