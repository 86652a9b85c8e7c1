-- fstat() of one file by all CPUs, Linux 6.2: each call takes and drops a reference to the file's dentry, a lockref. What it
-- teaches: a CPU whose compare-and-exchange has failed has the line already; if it pauses then, it loses the line again.
title = "One file's lockref, with a pause after a compare-and-exchange that failed, or none"
parameters = {
  { name = "pause_cycles", default = 0, min = 0, max = 1e6, meaning = "of cpu_relax(), after a failure" },
  { name = "call_cycles", default = 880, min = 0, max = 1e9, meaning = "of the system call beside the lockref" },
}

function setup()
  dentry = place(structure { name = "dentry", "d_lockref", size = 192, align = 64 }, "dentry")
  preset(dentry.d_lockref, 1)
end

local function change(cpu, by) -- CMPXCHG_LOOP
  local count = cpu:load(dentry.d_lockref)
  while true do
    local seen = cpu:compare_exchange(dentry.d_lockref, count, count + by)
    if seen == count then return end
    count = seen
    if workload.pause_cycles > 0 then cpu:compute(workload.pause_cycles) end
  end
end
local get = named("lockref_get", function(cpu) change(cpu, 1) end)
local put = named("lockref_put_return", function(cpu) change(cpu, -1) end)

function run(cpu)
  local half = workload.call_cycles // 2
  while true do
    cpu:compute_about(half)
    get(cpu)
    cpu:compute_about(half)
    put(cpu)
    cpu:tally()
  end
end
