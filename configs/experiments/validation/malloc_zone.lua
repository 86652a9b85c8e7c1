-- FreeBSD's kernel malloc: a type's structure begins with what every allocation reads, and the statistics of CPU 0 follow on the same
-- line. What it teaches: one writer is enough.
title = "Every allocation reads a byte that lies beside the statistics of CPU 0, or doesn't"
parameters = {
  { name = "reads_zone", default = true, meaning = "an allocation reads mti_zone" },
  { name = "allocations", default = 2, min = 1, max = 16, meaning = "and as many frees in an operation" },
  { name = "operation_cycles", default = 6000, min = 0, max = 1e9, meaning = "of an operation beside these" },
}

function setup()
  -- uint32_t mti_probes[2], u_char mti_zone; then, from byte 16 on, 64 bytes for each CPU
  heads = place(structure { name = "malloc_type_internal", { "mti_probes", at = 0 }, { "mti_zone", at = 8, bytes = 1 },
    { "stats", at = 16, bytes = 8, count = 8 * machine.cpus }, align = 4096 }, "malloc_type_internal")
end

local function add(cpu, field)
  local word = heads.stats[8 * cpu.id + field]
  cpu:store(word, cpu:load(word) + 1)
end
local allocate = named("malloc", function(cpu)
  if workload.reads_zone then cpu:load(heads.mti_zone) end
  add(cpu, 0)
  add(cpu, 2)
end)
local free = named("free", function(cpu)
  add(cpu, 1)
  add(cpu, 3)
end)

function run(cpu)
  local part = workload.operation_cycles // (2 * workload.allocations)
  while true do
    for _ = 1, workload.allocations do
      cpu:compute_about(part)
      allocate(cpu)
      cpu:compute_about(part)
      free(cpu)
    end
    cpu:tally()
  end
end
