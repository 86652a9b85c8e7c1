-- What a load costs at each distance: chains of dependent loads over as much memory as one level holds. What it teaches: the
-- metrics latency.l1, l2, node_cache, local_memory and remote_memory of a CPU that runs alone are load-to-use latencies.
title = "Load-to-use latency of each level"
parameters = {
  { name = "l1_kib", default = 8, min = 1, max = 1048576, meaning = "walked through again and again: in the first cache" },
  { name = "l2_kib", default = 128, min = 1, max = 1048576, meaning = "likewise: in the second, not in the first" },
  { name = "l3_kib", default = 0, min = 0, max = 1048576, meaning = "likewise: in what is kept behind the bus; 0: nothing is" },
  { name = "memory_kib", default = 512, min = 1, max = 1048576, meaning = "walked through once: in memory" },
  { name = "home", default = 0, min = 0, max = 63, meaning = "node of the memory that is walked through once; 0: near CPU 0" },
}
ends = true

function setup()
  walks = {
    { kib = workload.l1_kib, times = 10 },
    { kib = workload.l2_kib, times = 3 },
    { kib = workload.l3_kib, times = 2 },
    { kib = workload.memory_kib, times = 1, home = workload.home },
  }
  for i, walk in ipairs(walks) do
    local far = walk.home and walk.home > 0 and { node = walk.home } or {}
    if walk.kib > 0 then walk.address = place_array("walk_" .. i, walk.kib * 1024, far) end
  end
end

function run(cpu)
  if cpu.id ~= 0 then return end
  for _, walk in ipairs(walks) do
    if walk.kib > 0 then
      for _ = 1, walk.times do
        for byte = 0, walk.kib * 1024 - 1, machine.line_bytes do
          cpu:load(walk.address + byte)
          cpu:tally()
        end
      end
    end
  end
end
