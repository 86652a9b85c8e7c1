-- The CLH queue lock (Craig 1993; Landin and Hagersten 1994). What it teaches: a queue without a pointer to the next one. Each
-- waits at the node of the CPU before it, and takes that node with it when it goes.
title = "CLH: a queue, in which each waits at its predecessor's node"
traits = { fifo = true }

function setup(name)
  local node = structure { name = "clh_node", "waits", align = "line" }
  local lock = lock_word(structure { name = "clh_lock", "tail" })
  lock.nodes = place_per_cpu(node, name .. ".node")
  preset(lock.tail, place(node, name .. ".nobody").address)
  return lock
end

function acquire(cpu, lock)
  local mine = lock.mine or lock.nodes[cpu.id].address
  cpu:store(mine, 1)
  lock.before = cpu:exchange(lock.tail, mine)
  lock.mine = mine
  if cpu:load_acquire(lock.before) == 0 then return false end
  cpu:spin_until_acquire(lock.before, "==", 0)
  return true
end

function release(cpu, lock)
  cpu:store_release(lock.mine, 0)
  lock.mine = lock.before -- nobody looks at that node any more
end
