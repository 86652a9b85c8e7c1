-- Work stealing (Chase and Lev, 2005): each CPU has a deque of tasks and works at its bottom. A CPU whose deque is empty
-- steals from the top of another's. What it teaches: the owner needs only loads, stores and one fence; CPUs compete only for
-- the last task.
title = "Work-stealing deques"
parameters = {
  { name = "task_cycles", default = 300, min = 1, max = 1e9, meaning = "mean time for a task" },
  { name = "burst", default = 32, min = 1, max = 1024, meaning = "tasks that a CPU makes at once, when it makes some" },
}
tallies = { "tasks", "stolen", "idle" }

local SLOTS <const> = 1024

function setup()
  local deque = structure { name = "deque", "top", { "bottom", at = machine.line_bytes },
    { "slot", at = 2 * machine.line_bytes, count = SLOTS }, align = "line" }
  deques = place_per_cpu(deque, "deque")
end

local push = named("push", function(cpu, mine, task)
  local bottom = cpu:load(mine.bottom)
  if bottom - cpu:load_acquire(mine.top) >= SLOTS then return end
  cpu:store(mine.slot[bottom % SLOTS], task)
  cpu:store_release(mine.bottom, bottom + 1)
end)

local pop = named("pop", function(cpu, mine)
  local bottom = cpu:load(mine.bottom) - 1
  cpu:store(mine.bottom, bottom)
  cpu:fence() -- the store must be visible to thieves before this CPU loads top
  local top = cpu:load(mine.top)
  local task = top <= bottom and cpu:load(mine.slot[bottom % SLOTS]) or nil
  if top < bottom then return task end
  if top == bottom and cpu:compare_exchange(mine.top, top, top + 1) ~= top then task = nil end
  cpu:store(mine.bottom, bottom + 1)
  return task
end)

local steal = named("steal", function(cpu, from)
  local top = cpu:load_acquire(from.top)
  if top >= cpu:load_acquire(from.bottom) then return nil end
  local task = cpu:load(from.slot[top % SLOTS])
  return cpu:compare_exchange(from.top, top, top + 1) == top and task or nil
end)

function run(cpu)
  local mine = deques[cpu.id]
  while true do
    if cpu:random(workload.burst * machine.cpus) < machine.cpus then
      for task = 1, workload.burst do push(cpu, mine, task) end
    end
    local task = pop(cpu, mine)
    if not task then
      task = steal(cpu, deques[cpu:random(machine.cpus)])
      if task then cpu:tally("stolen") end
    end
    cpu:compute_about(workload.task_cycles)
    cpu:tally(task and "tasks" or "idle")
  end
end
