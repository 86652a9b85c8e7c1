-- Clock ticks, Linux 4.4: each CPU adds to its task group's load_avg and reads the group's shares, which are on the same line
-- or apart. Between two ticks the CPUs share nothing. What it teaches: CPUs may contend for a line at every tick without
-- losing time that matters.
title = "A task group's load average beside what each tick reads, or on a line of its own"
parameters = {
  { name = "apart", default = false, meaning = "load_avg has a line of its own" },
  { name = "groups", default = 1, min = 1, max = 64, meaning = "task groups; a CPU's tasks are of one" },
  { name = "tick_cycles", default = 2800000, min = 1, max = 1e9, meaning = "between two ticks" },
  { name = "work_cycles", default = 10000, min = 1, max = 1e9, meaning = "of one operation of the program" },
}

function setup()
  groups = place(structure { name = "task_group", { "se", at = 64 }, { "cfs_rq", at = 72 }, { "shares", at = 80 },
    { "load_avg", at = workload.apart and 128 or 88 }, size = 256, align = 64 }, "task_group", { count = workload.groups })
  queues = place_per_cpu(structure { name = "cfs_rq", "load_avg", align = 64 }, "cfs_rq")
end

local tick = named("task_tick_fair", function(cpu)
  local group, queue = groups[cpu.id % workload.groups], queues[cpu.id]
  cpu:load(group.se)
  cpu:load(group.cfs_rq)
  cpu:execute(1500)
  cpu:store(queue.load_avg, cpu:load(queue.load_avg) + 1)
  cpu:fetch_add(group.load_avg, 1) -- update_tg_load_avg()
  cpu:load(group.shares) -- update_cfs_shares()
  cpu:load(group.load_avg)
  cpu:execute(500)
end)

function run(cpu)
  local left = cpu:random(workload.tick_cycles)
  while true do
    cpu:compute(workload.work_cycles)
    cpu:tally()
    left = left - workload.work_cycles
    if left <= 0 then
      tick(cpu)
      left = left + workload.tick_cycles
    end
  end
end
