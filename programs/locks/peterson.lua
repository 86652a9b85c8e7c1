-- Peterson's lock (1981): mutual exclusion of two CPUs with loads and stores alone. What it teaches: the fence between the
-- store that says "I want" and the load that asks whether the other one does. Without it a store buffer lets both in. And where
-- stores may pass each other (ia64), the one of `turn` must be a release: whoever sees it must see "I want", too.
title = "Peterson's lock: two CPUs, no atomic operation"
traits = { cpus = 2 }

function setup()
  return lock_word(structure { name = "peterson_lock", { "wants", count = 2 }, "turn" })
end

function acquire(cpu, lock)
  local me, other = cpu.id, 1 - cpu.id
  cpu:store(lock.wants[me], 1)
  cpu:store_release(lock.turn, other)
  cpu:fence()
  if cpu:load_acquire(lock.wants[other]) == 0 then return false end
  cpu:spin_until_any { { lock.wants[other], "==", 0 }, { lock.turn, "==", me } }
  return true
end

function release(cpu, lock)
  cpu:store_release(lock.wants[cpu.id], 0)
end
