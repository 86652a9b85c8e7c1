-- Peterson's lock (1981): two CPUs, only loads and stores. What it teaches: a fence is needed between the store that says
-- "I want" and the load of the other CPU's "I want". Without the fence, store buffers let both in. Where stores may pass each
-- other (ia64), the store to `turn` must be a release, so that a CPU that sees it also sees "I want". Under c11, as on POWER, a
-- CPU that overwrites `turn` has not thereby seen "I want": another fence before the store to `turn` would be needed.
title = "Peterson's lock: two CPUs, no atomic operation"
traits = { cpus = 2, models = "sc tso ia64" } -- under c11 the stores to `turn` may be in the other order: see above

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
  cpu:load_fence()
  return true
end

function release(cpu, lock)
  cpu:store_release(lock.wants[cpu.id], 0)
end
