-- Packets that a traffic filter drops, Linux 4.2: the action counts each packet in one counter under its spinlock, or in a
-- counter for each CPU. What it teaches: what a lock costs that protects only statistics.
title = "A filter's drop action: counted under a lock, or by each CPU for itself"
parameters = {
  { name = "counted", default = "under_lock", choices = { "under_lock", "per_cpu" }, meaning = "where packets are counted" },
  { name = "packet_cycles", default = 2000, min = 0, max = 1e9, meaning = "of a packet beside the action" },
}

function setup()
  action = place(structure { name = "tcf_gact", { "action", at = 24, bytes = 4 }, { "lastuse", at = 48 }, { "bytes", at = 72 },
    { "packets", at = 80, bytes = 4 }, { "drops", at = 96, bytes = 4 }, { "next", at = 136, bytes = 2 },
    { "serving", at = 138, bytes = 2 }, size = 192, align = 64 }, "tcf_gact")
  per_cpu = place_per_cpu(structure { name = "gnet_stats", "bytes", "packets:4", "drops:4", align = 64 }, "gnet_stats")
end

local function add(cpu, word, by) cpu:store(word, cpu:load(word) + by) end
local act = named("tcf_gact", function(cpu)
  if workload.counted == "per_cpu" then
    local mine = per_cpu[cpu.id]
    cpu:load(action.action)
    add(cpu, mine.bytes, 60)
    add(cpu, mine.packets, 1)
    add(cpu, mine.drops, 1)
    cpu:store(action.lastuse, 1)
    return
  end
  local ticket = cpu:fetch_add(action.next, 1)
  cpu:spin_until_acquire(action.serving, "==", ticket)
  cpu:load(action.action)
  add(cpu, action.bytes, 60)
  add(cpu, action.packets, 1)
  add(cpu, action.drops, 1)
  cpu:store(action.lastuse, 1)
  cpu:store_release(action.serving, (ticket + 1) & 0xFFFF)
end)

function run(cpu)
  while true do
    cpu:compute_about(workload.packet_cycles)
    act(cpu)
    cpu:tally()
  end
end
