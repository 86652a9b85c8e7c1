-- MCS with parking: a waiter spins for a while, and then sleeps until it is woken (spin-then-park, as in Dice's Malthusian
-- Locks, EuroSys 2017). What it teaches: waiter and releaser change the same word atomically, so no wake-up is lost.
title = "MCS with parking: spin for a while, then sleep"
traits = { fifo = true, sleeps = true }

local WAITS <const>, GRANTED <const>, PARKED <const> = 1, 0, 2
local LOOKS <const>, CYCLES <const> = 3, 150 -- a waiter loads its state LOOKS times, CYCLES apart, before it sleeps

function setup()
  local lock = lock_word(structure { name = "mcs_lock", "tail" })
  node = structure { name = "parking_node", "next", "state:4", "cpu:4" }
  nodes = queue_nodes(node)
  return lock
end

local function wait(cpu, mine)
  for _ = 1, LOOKS do
    if cpu:load_acquire(mine + node.state) == GRANTED then return end
    cpu:compute(CYCLES)
  end
  if cpu:compare_exchange(mine + node.state, WAITS, PARKED) == GRANTED then return end
  repeat cpu:sleep() until cpu:load_acquire(mine + node.state) == GRANTED
end

function acquire(cpu, lock)
  local mine = cpu:take_node(nodes)
  cpu:store(mine + node.next, 0)
  cpu:store(mine + node.state, WAITS)
  cpu:store(mine + node.cpu, cpu.id)
  local before = cpu:exchange(lock.tail, mine)
  if before ~= 0 then
    cpu:store_release(before + node.next, mine)
    wait(cpu, mine)
  end
  lock.mine = mine
  return before ~= 0
end

local function pass_on(cpu, lock, mine)
  local after = cpu:load(mine + node.next)
  if after == 0 then
    if cpu:compare_exchange(lock.tail, mine, 0) == mine then return end
    after = cpu:spin_until_acquire(mine + node.next, "~=", 0)
  end
  local sleeper = cpu:load(after + node.cpu) -- loaded before the grant, after which the waiter may reuse its node
  if cpu:exchange(after + node.state, GRANTED) == PARKED then cpu:wake(sleeper) end
end

function release(cpu, lock)
  pass_on(cpu, lock, lock.mine)
  cpu:give_node(nodes, lock.mine)
end
