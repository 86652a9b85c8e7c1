// The program that the page shows first: three CPUs and one line.
import type { Scene } from "./engine/files";

export const kDemo: Scene = {
  experiment: `name    = "first_steps"
title   = "Three CPUs and one counter"
machine = "p3_xeon_4way"

[workload]
name    = "program"
program = "program.lua"

[run]
measure_us = 0

[set]
"machine.cpus" = 3
`,
  program: `title = "Three CPUs and one counter"
ends = true

function setup()
  shared = place(structure { name = "shared", "x", "y", align = "line" }, "shared")
end

function run(cpu)
  if cpu.id == 0 then
    cpu:store(shared.x, 1)
    cpu:load(shared.y)
  elseif cpu.id == 1 then
    cpu:compute(400)
    cpu:load(shared.x)
    cpu:store(shared.y, 7)
  else
    cpu:compute(900)
    cpu:fetch_add(shared.x, 1)
  end
  cpu:load(shared.x)
  cpu:tally()
end
`,
};

/** A program that shows a difference between protocols: each CPU reads and then writes a line that no other CPU uses. */
export const kReadThenWrite = `title = "Each CPU reads and then writes what is its own"
ends = true

function setup()
  own = place_per_cpu(structure { name = "own", "count" }, "own")
end

function run(cpu)
  for round = 1, 2 do
    local count = cpu:load(own[cpu.id].count)
    cpu:store(own[cpu.id].count, count + 1)
    cpu:compute(200)
  end
end
`;
