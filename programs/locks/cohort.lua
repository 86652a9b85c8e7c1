-- A cohort lock of ticket locks (Dice, Marathe and Shavit, PPoPP 2012: C-TKT-TKT): one lock for each NUMA node, and a global
-- one. What it teaches: the holder hands the lock to a waiter in its own node, near the lock's lines. Another node gets it after
-- several such hand-offs. Where nodes are far apart, throughput rises and fairness falls.
title = "Cohort lock: hands over within a node, and to other nodes after some hand-offs"
library = "ConcurrencyKit (ck_cohort)"
traits = { numa_aware = true }

local HAND_OFFS <const> = 16

function setup(name)
  local lock = lock_word(structure { name = "cohort_lock", "next:4", "serving:4" })
  local ticket = structure { name = "cohort_node", "next:4", "serving:4", "owns", "hand_offs", align = "line" }
  lock.nodes = {}
  for node = 0, machine.nodes - 1 do lock.nodes[node] = place(ticket, name .. ".node" .. node, { node = node }) end
  return lock
end

local function wait(cpu, lock)
  local mine = cpu:fetch_add(lock.next, 1)
  if cpu:load_acquire(lock.serving) == mine then return false end
  cpu:spin_until_acquire(lock.serving, "==", mine)
  return true
end

local function call_next(cpu, lock)
  cpu:store_release(lock.serving, cpu:load(lock.serving) + 1)
end

function acquire(cpu, lock)
  local node = lock.nodes[machine.node_of[cpu.id]]
  local waited = wait(cpu, node)
  if cpu:load(node.owns) == 1 then return true end -- this node already has the global lock: a neighbour left it held
  return wait(cpu, lock) or waited
end

function release(cpu, lock)
  local node = lock.nodes[machine.node_of[cpu.id]]
  local hand_offs = cpu:load(node.hand_offs)
  local neighbours = cpu:load(node.next) - cpu:load(node.serving) & 0xFFFFFFFF
  if neighbours > 1 and hand_offs < HAND_OFFS then
    cpu:store(node.hand_offs, hand_offs + 1)
    cpu:store(node.owns, 1)
  else
    cpu:store(node.hand_offs, 0)
    cpu:store(node.owns, 0)
    call_next(cpu, lock)
  end
  call_next(cpu, node)
end
