-- Workers that take jobs from a queue, and count what they have done. What it teaches: which of two hot lines is shared because it
-- must be, and which by mistake. `linebounce lines` shows both; `apart` moves the counters, and `ab` says what that gains.
title = "Workers take jobs, and count their steps"
parameters = {
  { name = "apart", default = false, meaning = "each worker's counters on a line of its own" },
  { name = "steps", default = 4, min = 1, max = 1000, meaning = "steps of a job, each of which is counted" },
  { name = "step_cycles", default = 200, min = 0, max = 1e9, meaning = "computed in a step" },
}

function setup()
  queue = place(structure { name = "queue", "taken", align = "line" }, "queue")
  local worker = structure { name = "worker", "steps", "jobs", align = workload.apart and "line" or 8 }
  workers = place(worker, "worker", { count = machine.cpus })
end

function run(cpu)
  local mine = workers[cpu.id]
  while true do
    cpu:fetch_add(queue.taken, 1)
    for step = 1, workload.steps do
      cpu:compute_about(workload.step_cycles)
      cpu:store(mine.steps, cpu:load(mine.steps) + 1)
    end
    cpu:store(mine.jobs, cpu:load(mine.jobs) + 1)
    cpu:tally()
  end
end
