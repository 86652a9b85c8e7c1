-- Hierarchical back-off (Radovic and Hagersten, HPCA 2003). What it teaches: a lock can be NUMA-aware with one word, which
-- names the holder's NUMA node. Waiters in other nodes retry less often, so the lock tends to stay in a node, without a queue.
title = "Hierarchical back-off: CPUs far from the holder try less often"
traits = { numa_aware = true }

local NEAR <const>, FAR <const>, MOST <const> = 100, 800, 6400 -- cycles

function setup()
  return lock_word(structure { name = "hbo_lock", "holder_node" }) -- the holder's node plus 1; 0: the lock is free
end

function acquire(cpu, lock)
  local mine = machine.node_of[cpu.id] + 1
  local seen = cpu:compare_exchange(lock.holder_node, 0, mine)
  local near, far = NEAR, FAR
  local waited = false
  while seen ~= 0 do
    waited = true
    if seen == mine then
      cpu:compute_about(near)
      near = math.min(2 * near, MOST)
    else
      cpu:compute_about(far)
      far = math.min(2 * far, MOST)
    end
    seen = cpu:compare_exchange(lock.holder_node, 0, mine)
  end
  return waited
end

function try_acquire(cpu, lock)
  return cpu:compare_exchange(lock.holder_node, 0, machine.node_of[cpu.id] + 1) == 0
end

function release(cpu, lock)
  cpu:store_release(lock.holder_node, 0)
end
