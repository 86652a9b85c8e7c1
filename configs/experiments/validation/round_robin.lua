-- A load balancer that picks servers from a tree by their weights: each request moves its server within the tree, under a lock; one
-- tree for all threads, or one for each group of them.
title = "Weighted round robin: one tree with one lock, or one for each group of threads"
parameters = {
  { name = "groups", default = 1, min = 1, max = 64, meaning = "of threads, neighbours together, each with a tree" },
  { name = "servers", default = 64, min = 2, max = 1024, meaning = "in a tree" },
  { name = "request_cycles", default = 100000, min = 0, max = 1e9, meaning = "of a request beside the tree" },
}

function setup()
  trees = place(structure { name = "fwrr", { "ticket", at = 0, bytes = 2 }, { "serving", at = 2, bytes = 2 }, { "root", at = 64 },
    { "curr_pos", at = 72, bytes = 4 }, { "curr_weight", at = 76, bytes = 4 }, align = 64 }, "fwrr", { count = workload.groups })
  nodes = place(structure { name = "eb32_node", "branch", "leaf", "position:4", "weight:4", align = 64 }, "eb32_node",
    { count = workload.groups * workload.servers })
end

local pick = named("fwrr_get_next_server", function(cpu, tree, first)
  local ticket = cpu:fetch_add(tree.ticket, 1)
  cpu:spin_until_acquire(tree.serving, "==", ticket)
  local position = cpu:load(tree.curr_pos) + 1
  cpu:store(tree.curr_pos, position)
  cpu:load(tree.root)
  -- The first leaf, reached by the left branches. When it leaves, its parent's branch changes; when it comes back, another
  -- one's.
  local depth, count = 0, workload.servers
  while count > 1 do
    cpu:load(nodes[first + (position >> depth) % workload.servers].branch)
    depth, count = depth + 1, count // 2
  end
  local server, parent = nodes[first + position % workload.servers], nodes[first + (position + 1) % workload.servers]
  cpu:store(parent.branch, position)
  cpu:store(server.position, position)
  cpu:store(server.leaf, position)
  local other = nodes[first + (position * 7) % workload.servers]
  cpu:store(other.branch, position)
  cpu:execute(150)
  cpu:store_release(tree.serving, (ticket + 1) & 0xFFFF)
end)

function run(cpu)
  local group = cpu.id * workload.groups // machine.cpus
  while true do
    cpu:compute_about(workload.request_cycles)
    pick(cpu, trees[group], group * workload.servers)
    cpu:tally()
  end
end
