-- CNA (Dice and Kogan, EuroSys 2019): an MCS queue whose holder hands the lock to the next waiter in its own NUMA node, and
-- moves the waiters in between to a second queue. What it teaches: one word is enough for a cohort lock's gain.
title = "CNA: one queue in which CPUs of the holder's node go first for a while"
library = "libvsync (spinlock/cna.h)"
traits = { numa_aware = true }

local STAY <const> = 64 -- on average, one of this many hand-offs serves the second queue

function setup()
  node = structure { name = "cna_node", "next", "grant", "where", "aside_end" }
  nodes = queue_nodes(node)
  return lock_word(structure { name = "cna_lock", "tail" })
end

-- grant: 0 while the CPU waits. Once it has the lock: the first node of the second queue, or 1 if that queue is empty.
function acquire(cpu, lock)
  local mine = cpu:take_node(nodes)
  cpu:store(mine + node.next, 0)
  cpu:store(mine + node.grant, 0)
  cpu:store(mine + node.where, machine.node_of[cpu.id])
  local before = cpu:exchange(lock.tail, mine)
  lock.mine = mine
  if before == 0 then cpu:store(mine + node.grant, 1) return false end
  cpu:store_release(before + node.next, mine)
  cpu:spin_until_acquire(mine + node.grant, "~=", 0)
  return true
end

-- Returns the queue node of the first waiter in this NUMA node, or 0. Moves the waiters before it to the second queue.
local function find_neighbour(cpu, mine, first)
  local here, last, at = machine.node_of[cpu.id], 0, first
  while at ~= 0 and cpu:load(at + node.where) ~= here do last, at = at, cpu:load(at + node.next) end
  if at == 0 or at == first then return at end
  local aside = cpu:load(mine + node.grant)
  if aside > 1 then cpu:store(cpu:load(aside + node.aside_end) + node.next, first) else aside = first end
  cpu:store(last + node.next, 0)
  cpu:store(aside + node.aside_end, last)
  cpu:store(mine + node.grant, aside)
  return at
end

local function pass_on(cpu, lock, mine)
  local aside, first = cpu:load(mine + node.grant), cpu:load(mine + node.next)
  if first == 0 then
    local tail = aside > 1 and cpu:load(aside + node.aside_end) or 0
    if cpu:compare_exchange(lock.tail, mine, tail) == mine then
      return aside > 1 and cpu:store_release(aside + node.grant, 1)
    end
    first = cpu:spin_until_acquire(mine + node.next, "~=", 0)
  end
  local neighbour = cpu:random(STAY) ~= 0 and find_neighbour(cpu, mine, first) or 0
  if neighbour ~= 0 then return cpu:store_release(neighbour + node.grant, cpu:load(mine + node.grant)) end
  if aside > 1 then cpu:store(cpu:load(aside + node.aside_end) + node.next, first) end
  cpu:store_release((aside > 1 and aside or first) + node.grant, 1)
end

function release(cpu, lock)
  pass_on(cpu, lock, lock.mine)
  cpu:give_node(nodes, lock.mine)
end
