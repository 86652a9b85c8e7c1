-- Dekker's lock (1965), the first lock of all: two CPUs, only loads and stores. What it teaches: if both CPUs want the lock,
-- the one whose turn it is not steps back. Each of the two stores that say "I want" needs a fence after it.
title = "Dekker's lock: two CPUs, no atomic operation"
traits = { cpus = 2 }

function setup()
  return lock_word(structure { name = "dekker_lock", { "wants", count = 2 }, "turn" })
end

local function want(cpu, lock)
  cpu:store(lock.wants[cpu.id], 1)
  cpu:fence()
end

function acquire(cpu, lock)
  local me, other = cpu.id, 1 - cpu.id
  local waited = false
  want(cpu, lock)
  while cpu:load_acquire(lock.wants[other]) ~= 0 do
    waited = true
    if cpu:load(lock.turn) == me then
      cpu:spin_until_acquire(lock.wants[other], "==", 0)
    else
      cpu:store(lock.wants[me], 0)
      cpu:spin_until(lock.turn, "==", me)
      want(cpu, lock)
    end
  end
  return waited
end

function release(cpu, lock)
  cpu:store(lock.turn, 1 - cpu.id)
  cpu:store_release(lock.wants[cpu.id], 0)
end
