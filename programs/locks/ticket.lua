-- The ticket lock: one atomic operation per acquisition; first come, first served. What it teaches: fairness is cheap, but all
-- waiters spin on one word, so each release transfers its line to every waiter.
title = "Ticket lock: first come, first served"
library = "ConcurrencyKit (ck_spinlock_ticket)"
traits = { fifo = true }

function setup()
  return lock_word(structure { name = "ticket_lock", "next:4", "serving:4" })
end

function acquire(cpu, lock)
  local mine = cpu:fetch_add(lock.next, 1)
  if cpu:load_acquire(lock.serving) == mine then return false end
  cpu:spin_until_acquire(lock.serving, "==", mine)
  return true
end

-- Takes the next ticket only if that ticket is being served. A compare-exchange of 8 bytes covers both `next` and `serving`.
function try_acquire(cpu, lock)
  local both = cpu:load(lock.address)
  local next, serving = both & 0xFFFFFFFF, both >> 32
  if next ~= serving then return false end
  return cpu:compare_exchange(lock.address, both, serving << 32 | (next + 1) & 0xFFFFFFFF) == both
end

function release(cpu, lock)
  cpu:store_release(lock.serving, cpu:load(lock.serving) + 1)
end
