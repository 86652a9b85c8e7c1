-- Page faults of a memory control group, Linux 2.6.32: each page is charged to one counter under its spinlock, and uncharged
-- at unmap. What it teaches: what it costs to take a lock for every page, in bursts at unmap; and to take it for 64 pages, or
-- once for each unmap.
title = "Pages charged to a memory control group one by one, or many at a time"
parameters = {
  { name = "batch", default = "none", choices = { "none", "uncharge", "both" }, meaning = "charged and uncharged many at a time" },
  { name = "pages", default = 256, min = 1, max = 65536, meaning = "mapped, touched and unmapped in one turn" },
  { name = "fault_cycles", default = 10000, min = 0, max = 1e9, meaning = "of a fault beside the charge" },
  { name = "unmap_cycles", default = 2000, min = 0, max = 1e9, meaning = "of unmapping a page beside the uncharge" },
}

local STOCK <const> = 64 -- pages that a CPU charges at once (CHARGE_SIZE)

function setup()
  -- struct mem_cgroup begins with its cgroup_subsys_state and two res_counters of 56 bytes; spinlocks are ticket locks of one word.
  group = place(structure { name = "mem_cgroup", { "cgroup", at = 0 }, { "refcnt", at = 8, bytes = 4 },
    { "res.usage", at = 32 }, { "res.max_usage", at = 40 }, { "res.limit", at = 48 }, { "res.soft_limit", at = 56 },
    { "res.failcnt", at = 64 }, { "res.next", at = 72, bytes = 2 }, { "res.serving", at = 74, bytes = 2 }, { "res.parent", at = 80 },
    { "memsw.usage", at = 88 }, { "memsw.max_usage", at = 96 }, { "memsw.limit", at = 104 }, { "memsw.soft_limit", at = 112 },
    { "memsw.failcnt", at = 120 }, { "memsw.next", at = 128, bytes = 2 }, { "memsw.serving", at = 130, bytes = 2 },
    { "memsw.parent", at = 136 }, align = 64 }, "mem_cgroup")
end

local function change(cpu, counter, pages)
  local ticket = cpu:fetch_add(group[counter .. ".next"], 1)
  cpu:spin_until_acquire(group[counter .. ".serving"], "==", ticket)
  local usage = cpu:load(group[counter .. ".usage"]) + pages
  cpu:store(group[counter .. ".usage"], usage)
  if pages > 0 then
    cpu:load(group[counter .. ".limit"])
    if usage > cpu:load(group[counter .. ".max_usage"]) then cpu:store(group[counter .. ".max_usage"], usage) end
  end
  cpu:execute(20)
  cpu:store_release(group[counter .. ".serving"], (ticket + 1) & 0xFFFF)
  cpu:load(group[counter .. ".parent"])
end

local charge = named("mem_cgroup_charge", function(cpu, pages)
  change(cpu, "res", pages)
  change(cpu, "memsw", pages)
end)
local uncharge = named("mem_cgroup_uncharge", function(cpu, pages)
  change(cpu, "res", -pages)
  change(cpu, "memsw", -pages)
end)
local fault = named("handle_mm_fault", function(cpu) cpu:compute_about(workload.fault_cycles) end)
local unmap = named("unmap_page", function(cpu) cpu:compute_about(workload.unmap_cycles) end)

function run(cpu)
  local stock = 0
  cpu:compute_about(workload.fault_cycles * workload.pages) -- CPUs don't begin together
  while true do
    for _ = 1, workload.pages do
      fault(cpu)
      cpu:fetch_add(group.refcnt, 1)
      if workload.batch ~= "both" then
        charge(cpu, 1)
      elseif stock > 0 then
        stock = stock - 1
      else
        charge(cpu, STOCK)
        stock = STOCK - 1
      end
      cpu:fetch_add(group.refcnt, -1)
      cpu:tally()
    end
    for _ = 1, workload.pages do
      unmap(cpu)
      if workload.batch == "none" then uncharge(cpu, 1) end
    end
    if workload.batch ~= "none" then uncharge(cpu, workload.pages) end
  end
end
