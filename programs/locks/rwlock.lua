-- A reader-writer lock in one word. A reader adds 1, a writer adds more than all readers together can; a CPU that may not enter
-- subtracts its amount again. (Linux 2.4 and 2.6 on i386 count down.) What it teaches: readers hold the lock together, but each
-- section takes the line from other readers twice, so short sections gain little.
title = "Reader-writer lock: one counter (Linux 2.4 and 2.6 on i386)"
library = "ConcurrencyKit (ck_rwlock)"
traits = { readers = "together" }

local WRITER <const> = 0x01000000 -- more than the number of readers

function setup()
  return lock_word(structure { name = "rwlock", "counter:4" })
end

function acquire(cpu, lock)
  if cpu:fetch_add(lock.counter, WRITER) == 0 then return false end
  cpu:waits()
  repeat
    cpu:fetch_add(lock.counter, -WRITER)
    cpu:spin_until(lock.counter, "==", 0)
  until cpu:fetch_add(lock.counter, WRITER) == 0
  return true
end

function try_acquire(cpu, lock)
  if cpu:fetch_add(lock.counter, WRITER) == 0 then return true end
  cpu:fetch_add(lock.counter, -WRITER)
  return false
end

function release(cpu, lock)
  cpu:fetch_add(lock.counter, -WRITER)
end

function acquire_shared(cpu, lock)
  if cpu:fetch_add(lock.counter, 1) < WRITER then return false end
  cpu:waits()
  repeat
    cpu:fetch_add(lock.counter, -1)
    cpu:spin_until(lock.counter, "<", WRITER)
  until cpu:fetch_add(lock.counter, 1) < WRITER
  return true
end

function release_shared(cpu, lock)
  cpu:fetch_add(lock.counter, -1)
end
