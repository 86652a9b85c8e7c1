-- A virtual machine's exits, Linux 6.2: each goes through its vCPU's structure, 6688 bytes, of which some hundred fields are touched;
-- the proposed layout takes two lines less. Nothing is shared: each vCPU stays on its CPU.
title = "Exits of virtual machines through a structure of 105 lines, or of 103"
parameters = {
  { name = "lines", default = 105, min = 1, max = 512, meaning = "of struct vcpu_vmx" },
  { name = "touched", default = 40, min = 1, max = 512, meaning = "lines that an exit touches, of those" },
  { name = "exit_cycles", default = 3000, min = 0, max = 1e9, meaning = "of an exit and entry beside these" },
  { name = "guest_cycles", default = 20000, min = 0, max = 1e9, meaning = "between two exits" },
  { name = "guest_kib", default = 256, min = 1, max = 4096, meaning = "that the guest reads meanwhile, 32 lines of it" },
}

function setup()
  vcpus = place(structure { name = "vcpu_vmx", { "line", bytes = 8, count = 8 * workload.lines }, align = 64 }, "vcpu_vmx",
    { count = machine.cpus })
  guests = {}
  for i = 0, machine.cpus - 1 do
    guests[i] = place_array("guest" .. i, workload.guest_kib * 1024, { node = machine.node_of[i] })
  end
end

local leave = named("vmx_vcpu_run", function(cpu)
  local mine = vcpus[cpu.id].line
  for i = 0, workload.touched - 1 do
    local word = mine[8 * (i * workload.lines // workload.touched)]
    if i % 4 == 0 then cpu:store(word, i) else cpu:load(word) end
  end
  cpu:compute_about(workload.exit_cycles)
end)

function run(cpu)
  while true do
    cpu:compute_about(workload.guest_cycles)
    for _ = 1, 32 do cpu:load(guests[cpu.id] + 64 * cpu:random(workload.guest_kib * 16)) end
    leave(cpu)
    cpu:tally()
  end
end
