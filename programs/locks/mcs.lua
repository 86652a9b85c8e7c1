-- The MCS queue lock (Mellor-Crummey and Scott, 1991). What it teaches: each waiter spins on a word on its own line, so a
-- release invalidates the line of only one CPU, however many wait.
title = "MCS: a queue in which each CPU waits at its own node"
library = "ConcurrencyKit (ck_spinlock_mcs)"
traits = { fifo = true }

local node, nodes

function setup()
  local lock = lock_word(structure { name = "mcs_lock", "tail" })
  node = structure { name = "mcs_node", "next", "waits" }
  nodes = queue_nodes(node)
  return lock
end

function acquire(cpu, lock)
  local mine = cpu:take_node(nodes)
  cpu:store(mine + node.next, 0)
  cpu:store(mine + node.waits, 1)
  local before = cpu:exchange(lock.tail, mine)
  if before ~= 0 then
    cpu:store_release(before + node.next, mine)
    cpu:spin_until_acquire(mine + node.waits, "==", 0)
  end
  lock.mine = mine -- each CPU has its own Lua table `lock`
  return before ~= 0
end

function try_acquire(cpu, lock)
  local mine = cpu:take_node(nodes)
  cpu:store(mine + node.next, 0)
  if cpu:compare_exchange(lock.tail, 0, mine) ~= 0 then
    cpu:give_node(nodes, mine)
    return false
  end
  lock.mine = mine
  return true
end

function release(cpu, lock)
  local mine = lock.mine
  local after = cpu:load(mine + node.next)
  if after == 0 and cpu:compare_exchange(lock.tail, mine, 0) ~= mine then
    after = cpu:spin_until(mine + node.next, "~=", 0) -- a waiter has queued, and is about to store its node's address here
  end
  if after ~= 0 then cpu:store_release(after + node.waits, 0) end
  cpu:give_node(nodes, mine)
end
