-- Real-time threads that sleep and wake, Linux 6.15. For each priority, the scheduler counts the CPUs that run at it, and
-- keeps a mask of them. A CPU that wakes a thread looks for a CPU of lower priority: it reads counts, and pointers to masks.
-- A CPU that begins or ends a thread changes two counts. What it teaches: fields that all CPUs read lie beside fields that
-- all CPUs write.
title = "Counts of CPUs at each priority beside the pointers to their masks, or apart"
parameters = {
  { name = "apart", default = false, meaning = "each count and each pointer has a line of its own" },
  { name = "work_cycles", default = 22400, min = 1, max = 1e9, meaning = "of a thread from waking to sleeping" },
  { name = "group", default = 8, min = 1, max = 64, meaning = "CPUs that a thread may run on" },
}

local NORMAL <const> = 0 -- index of the CPUs without a real-time thread
local REAL_TIME <const> = 99 -- index of the CPUs with a thread of the highest priority
local LINE <const> = 64

function setup()
  local fields = { name = "cpupri", align = LINE }
  local step = workload.apart and 2 * LINE or 16
  for index = 0, REAL_TIME do
    fields[#fields + 1] = { "count" .. index, at = index * step, bytes = 4 }
    fields[#fields + 1] = { "mask" .. index, at = index * step + (workload.apart and LINE or 8) }
  end
  cpupri = place(structure(fields), "cpupri")
  masks = place(structure { name = "cpumask", "bits", align = LINE }, "cpumask", { count = REAL_TIME + 1 })
end

local function change(cpu, index, by)
  local pointer = cpupri["mask" .. index]
  local bits = masks[index].bits
  local bit = 1 << cpu.id
  if by > 0 then
    cpu:load(pointer)
    cpu:fetch_add(bits, bit)
    cpu:fetch_add(cpupri["count" .. index], 1)
  else
    cpu:fetch_add(cpupri["count" .. index], -1)
    cpu:load(pointer)
    cpu:fetch_add(bits, -bit)
  end
end

local set = named("cpupri_set", function(cpu, from, to)
  change(cpu, to, 1)
  change(cpu, from, -1)
end)

local find = named("cpupri_find_fitness", function(cpu, allowed)
  for index = 0, REAL_TIME - 1 do
    if cpu:load(cpupri["count" .. index]) > 0 then
      cpu:load(cpupri["mask" .. index])
      if cpu:load(masks[index].bits) & allowed ~= 0 then return end
    end
    cpu:execute(4)
  end
end)

function run(cpu)
  local first = cpu.id // workload.group * workload.group
  local allowed = 0
  for other = first, first + workload.group - 1 do
    allowed = allowed | 1 << other
  end
  change(cpu, NORMAL, 1)
  cpu:compute_about(workload.work_cycles)
  while true do
    find(cpu, allowed)
    set(cpu, NORMAL, REAL_TIME)
    cpu:compute_about(workload.work_cycles)
    set(cpu, REAL_TIME, NORMAL)
    cpu:tally()
    cpu:compute_about(workload.work_cycles // 4)
  end
end
