-- A proxy's statistics: each request adds to counters of the frontend, the backend and the server, which a group of threads
-- shares. What it teaches: nobody waits for the addition's result, but the addition still waits for its line.
title = "Statistics that all threads share, or a group of them"
parameters = {
  { name = "groups", default = 1, min = 1, max = 64, meaning = "of threads, neighbours together" },
  { name = "objects", default = 3, min = 1, max = 16, meaning = "with counters: frontend, backend, server" },
  { name = "lines", default = 2, min = 1, max = 8, meaning = "of counters of an object that a request adds to" },
  { name = "additions", default = 3, min = 1, max = 8, meaning = "to counters of one line" },
  { name = "request_cycles", default = 100000, min = 0, max = 1e9, meaning = "of a request beside its counters" },
}

function setup()
  counters = place(structure { name = "counters_shared", { "count", bytes = 8, count = 8 * workload.lines }, align = 64 },
    "counters_shared", { count = workload.objects * workload.groups })
end

local add = named("counters_inc", function(cpu, object, line)
  for i = 0, workload.additions - 1 do cpu:fetch_add(object.count[8 * line + i], 1) end
end)

function run(cpu)
  local group = cpu.id * workload.groups // machine.cpus
  local part = workload.request_cycles // (workload.objects * workload.lines)
  while true do
    for o = 0, workload.objects - 1 do
      for line = 0, workload.lines - 1 do
        cpu:compute_about(part)
        add(cpu, counters[group * workload.objects + o], line)
      end
    end
    cpu:tally()
  end
end
