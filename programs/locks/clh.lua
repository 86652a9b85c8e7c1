-- The CLH queue lock (Craig 1993; Landin and Hagersten 1994). What it teaches: a queue needs no pointer to the next waiter.
-- Each CPU spins on its predecessor's node, and keeps that node when it releases the lock. The lock has one spare node.
title = "CLH: a queue in which each CPU waits at its predecessor's node"
library = "ConcurrencyKit (ck_spinlock_clh)"
traits = { fifo = true }

local nodes

function setup(name)
  local node = structure { name = "clh_node", "waits", align = "line" }
  local lock = lock_word(structure { name = "clh_lock", "tail" })
  preset(lock.tail, place(node, name .. ".node").address)
  nodes = queue_nodes(node)
  return lock
end

local function wait_at(cpu, before)
  if cpu:load_acquire(before) == 0 then return false end
  cpu:spin_until_acquire(before, "==", 0)
  return true
end

function acquire(cpu, lock)
  local mine = cpu:take_node(nodes)
  cpu:store(mine, 1)
  local before = cpu:exchange(lock.tail, mine)
  local waited = wait_at(cpu, before)
  lock.mine, lock.before = mine, before -- each CPU has its own Lua table `lock`
  return waited
end

-- May wait: between its load and its compare-exchange of the tail, another CPU may have queued with the same node again.
function try_acquire(cpu, lock)
  local before = cpu:load(lock.tail)
  if cpu:load_acquire(before) ~= 0 then return false end
  local mine = cpu:take_node(nodes)
  cpu:store(mine, 1)
  if cpu:compare_exchange(lock.tail, before, mine) ~= before then
    cpu:give_node(nodes, mine)
    return false
  end
  wait_at(cpu, before)
  lock.mine, lock.before = mine, before
  return true
end

function release(cpu, lock)
  local before = lock.before
  cpu:store_release(lock.mine, 0)
  cpu:give_node(nodes, before) -- no CPU spins on the predecessor's node any more
end
