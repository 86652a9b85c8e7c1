-- Treiber's stack (1986): push and pop are one compare-and-exchange each. What it teaches: a stack without locks still has
-- contention. Between a pop's load and its compare-and-exchange, a node may leave and come back, so that the compare succeeds
-- wrongly (ABA). A count of changes beside the address prevents that.
title = "Treiber's lock-free stack"
parameters = {
  { name = "nodes", default = 64, min = 1, max = 65536, meaning = "on the stack at the beginning" },
  { name = "hold_cycles", default = 200, min = 1, max = 1e9, meaning = "mean time between pop and push" },
}
tallies = { "pops", "lost_races", "empty" }

local ADDRESS <const> = (1 << 40) - 1 -- the bits of the top's address; those above count the changes

function setup()
  stack = place(structure { name = "stack", "top", align = "line" }, "stack")
  node = structure { name = "stack_node", "next", "owner", align = "line" }
  local below = 0
  for _, each in pairs(place(node, "node", { count = workload.nodes })) do
    preset(each.next, below)
    below = each.address
  end
  preset(stack.top, below)
end

local function changed(top, to)
  return to | ((top & ~ADDRESS) + ADDRESS + 1) & ((1 << 56) - 1)
end

local pop = named("pop", function(cpu)
  while true do
    local top = cpu:load_acquire(stack.top)
    local first = top & ADDRESS
    if first == 0 then return nil end
    local next = cpu:load(first + node.next)
    if cpu:compare_exchange(stack.top, top, changed(top, next)) == top then return first end
    cpu:tally("lost_races")
  end
end)

local push = named("push", function(cpu, first)
  while true do
    local top = cpu:load(stack.top)
    cpu:store(first + node.next, top & ADDRESS)
    if cpu:compare_exchange(stack.top, top, changed(top, first)) == top then return end
    cpu:tally("lost_races")
  end
end)

function run(cpu)
  while true do
    local mine = pop(cpu)
    if mine then assert(cpu:exchange(mine + node.owner, cpu.id + 1) == 0, "two CPUs have popped one node") end
    cpu:compute_about(workload.hold_cycles)
    if mine then cpu:store(mine + node.owner, 0) push(cpu, mine) end
    cpu:tally(mine and "pops" or "empty")
  end
end
