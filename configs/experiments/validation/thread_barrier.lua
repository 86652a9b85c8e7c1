-- Threads compute a piece each, and meet before the next one: llama.cpp's barrier, before and after a change. What it
-- teaches: threads that wait read the line that arriving threads have to write; and an atomic addition of 0 is a write.
title = "A barrier: count and phase on one line, or apart; who leaves writes, or reads"
parameters = {
  { name = "mended", default = false, meaning = "count and phase have lines of their own, and only who arrives last writes the phase" },
  { name = "work_cycles", default = 100000, min = 0, max = 1e9, meaning = "computed between two barriers" },
  { name = "spread_cycles", default = 5000, min = 1, max = 1e9, meaning = "by so much at most, at random, some take longer" },
}

function setup()
  pool = place(structure { name = "threadpool", "arrived:4", { "passed", at = workload.mended and 64 or 4, bytes = 4 }, align = "line" },
    "threadpool")
end

local meet = named("ggml_barrier", function(cpu)
  local passed = cpu:load(pool.passed)
  cpu:execute(10)
  local last = cpu:fetch_add(pool.arrived, 1) == machine.cpus - 1
  if last then
    cpu:store(pool.arrived, 0)
    cpu:fetch_add(pool.passed, 1)
    return
  end
  cpu:spin_until(pool.passed, "~=", passed)
  if workload.mended then cpu:fence() else cpu:fetch_add(pool.passed, 0) end
end)

function run(cpu)
  while true do
    cpu:compute(workload.work_cycles)
    cpu:compute(cpu:random(workload.spread_cycles))
    meet(cpu)
    if cpu.id == 0 then cpu:tally() end
  end
end
