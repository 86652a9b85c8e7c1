-- A reader-writer lock in one word: readers count themselves, a writer adds more than all of them can, and who finds too much
-- gives back what it added (Linux 2.4 and 2.6 on i386, which count down). What it teaches: readers inside together still take the
-- line from each other, twice for each section, so that short sections gain little from it.
title = "Reader-writer lock: one counter (Linux 2.4 and 2.6 on i386)"
traits = { readers = "together" }

local WRITER <const> = 0x01000000 -- more than there are readers

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
