-- One CPU unmaps pages, and every other CPU that may know them must drop its translations before the pages are used again. What it
-- teaches: a munmap of a process with threads on many CPUs costs an interrupt to each of them, and the slowest answers last.
-- Give the machine its costs: --set machine.cpu.page_invalidation_cycles=200 --set machine.cpu.ipi_send_cycles=200
title = "TLB shootdowns: one CPU unmaps, all others drop translations"
parameters = {
  { name = "pages", default = 1, min = 1, max = 1e6, meaning = "of each mapping" },
  { name = "between_cycles", default = 10000, min = 1, max = 1e9, meaning = "mean time between two" },
}
tallies = { "unmapped", "user_rounds" }

function setup()
  shootdowns()
  mapping = place_array("mapping", workload.pages * 4096)
  others = {}
  for number = 1, machine.cpus - 1 do others[number] = number end
end

local unmap = named("munmap", function(cpu)
  cpu:compute(2000) -- page tables
  cpu:shoot_down(others, mapping, workload.pages)
end)

function run(cpu)
  while true do
    if cpu.id == 0 then
      cpu:compute_about(workload.between_cycles)
      unmap(cpu)
      cpu:tally("unmapped")
    else
      cpu:compute(1000)
      cpu:tally("user_rounds")
    end
  end
end
