-- The lock-free queue of Michael and Scott (1996). What it teaches: a CPU that finds the tail lagging behind advances it for
-- the CPU that was late. Head and tail are on lines of their own, so that enqueue and dequeue move different lines.
title = "Michael and Scott's lock-free queue"
parameters = {
  { name = "nodes", default = 64, min = 2, max = 65536, meaning = "in the queue at the beginning" },
  { name = "hold_cycles", default = 200, min = 1, max = 1e9, meaning = "mean time between dequeue and enqueue" },
}
tallies = { "dequeues", "lost_races", "empty" }
local ADDRESS <const> = (1 << 40) - 1 -- the bits of a pointer's address; those above count the changes, against ABA
function setup()
  queue = place(structure { name = "queue", "head", { "tail", at = machine.line_bytes }, align = "line" }, "queue")
  node = structure { name = "queue_node", "next", "value", align = "line" }
  local nodes = place(node, "node", { count = workload.nodes + 1 })
  for i = 1, workload.nodes do preset(nodes[i - 1].next, nodes[i].address) end
  preset(queue.head, nodes[0].address)
  preset(queue.tail, nodes[workload.nodes].address)
end

-- Replaces a pointer if it still equals `old`; returns false if another CPU has changed it.
local function move(cpu, word, old, to)
  local new = (to & ADDRESS) | ((old & ~ADDRESS) + ADDRESS + 1) & ((1 << 56) - 1)
  local moved = cpu:compare_exchange(word, old, new) == old
  if not moved then cpu:tally("lost_races") end
  return moved
end

local enqueue = named("enqueue", function(cpu, mine)
  cpu:store(mine + node.next, cpu:load(mine + node.next) & ~ADDRESS) -- keeps the count
  while true do
    local tail = cpu:load_acquire(queue.tail)
    local next = cpu:load_acquire((tail & ADDRESS) + node.next)
    if next & ADDRESS ~= 0 then
      move(cpu, queue.tail, tail, next)
    elseif move(cpu, (tail & ADDRESS) + node.next, next, mine) then
      return move(cpu, queue.tail, tail, mine)
    end
  end
end)

local dequeue = named("dequeue", function(cpu)
  while true do
    local head, tail = cpu:load_acquire(queue.head), cpu:load_acquire(queue.tail)
    local next = cpu:load_acquire((head & ADDRESS) + node.next)
    if head & ADDRESS == tail & ADDRESS then
      if next & ADDRESS == 0 then return nil end
      move(cpu, queue.tail, tail, next)
    elseif next & ADDRESS ~= 0 and move(cpu, queue.head, head, next) then
      return head & ADDRESS
    end
  end
end)

function run(cpu)
  while true do
    local mine = dequeue(cpu)
    cpu:compute_about(workload.hold_cycles)
    if mine then enqueue(cpu, mine) end
    cpu:tally(mine and "dequeues" or "empty")
  end
end
