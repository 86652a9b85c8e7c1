-- glibc's pthread_rwlock (2.25 to 2.41) of the default kind, and std::shared_mutex: readers count themselves in a word, whose
-- two bits say that a writer waits or holds it, and whether readers or a writer have their turn. What it teaches: a turn is
-- handed over by a word that only those who wait look at, so that readers cost one addition each way and no more.
title = "glibc: pthread_rwlock_t, std::shared_mutex; readers first, waiters sleep in the kernel"
library = "glibc (pthread_rwlock_t, std::shared_mutex)"
traits = { readers = "together", sleeps = true }

local WRITERS_TURN <const>, WRITER <const>, READER <const> = 1, 2, 8 -- of `readers`
local SLEEPS <const>, ALL <const> = 2, 1 << 20 -- of `turn` and `queue`: somebody may sleep for it

-- `turn` is 1 in a writer's turn; `queue` is 1 while a writer holds or awaits the lock. In glibc they share a line with the
-- others, if 56 bytes fit into it.
function setup(name)
  futexes()
  local lock = lock_word(structure { name = "glibc_rwlock", "readers:4", "writer:4" })
  lock.rest = place(structure { name = "glibc_rwlock_futexes", "turn:4", "queue:4", align = "line" }, name .. ".futexes")
  return lock
end

-- A reader enters and leaves in 70 instructions of glibc 2.36, a writer in 86 (counted by callgrind).
local READS <const>, WRITES <const> = 32, 38

-- Changes `readers` to change(value), again if another CPU was faster; returns the value before.
local function update(cpu, lock, seen, change)
  while true do
    local new = change(seen)
    if new == nil then return seen, false end
    local found = cpu:compare_exchange(lock.readers, seen, new)
    if found == seen then return seen, true end
    seen = found
  end
end

local function set_turn(cpu, lock, turn)
  if cpu:exchange(lock.rest.turn, turn) & SLEEPS ~= 0 then cpu:futex_wake(lock.rest.turn, ALL) end
end

-- Waits until `turn` is no longer `turn` and `readers` says the same.
local function await_turn(cpu, lock, turn)
  local told = turn == 1 and 0 or WRITERS_TURN
  local once_more = false
  while true do
    local seen = cpu:load(lock.rest.turn)
    while seen | SLEEPS == turn | SLEEPS do
      if seen & SLEEPS ~= 0 or cpu:compare_exchange(lock.rest.turn, seen, seen | SLEEPS) == seen then
        cpu:futex_wait(lock.rest.turn, turn | SLEEPS)
      end
      seen = cpu:load(lock.rest.turn)
    end
    if once_more then return end
    once_more = cpu:load_acquire(lock.readers) & WRITERS_TURN == told
    if not once_more then
      cpu:spin_until_any { { lock.readers, "==", told, WRITERS_TURN }, { lock.rest.turn, "==", turn, 1 } }
    end
  end
end

function acquire_shared(cpu, lock)
  cpu:execute(READS)
  cpu:load(lock.writer)
  local seen = cpu:fetch_add(lock.readers, READER) + READER
  if seen & WRITERS_TURN == 0 then return false end
  local _, began = update(cpu, lock, seen, function(now)
    if now & (WRITERS_TURN | WRITER) == WRITERS_TURN then return now ~ WRITERS_TURN end
  end)
  if began then
    set_turn(cpu, lock, 0)
    return false
  end
  await_turn(cpu, lock, 1)
  return true
end

function release_shared(cpu, lock)
  cpu:execute(READS)
  local function left(now)
    local after = now - READER
    return after < READER and after & WRITER ~= 0 and after | WRITERS_TURN or after
  end
  if left(update(cpu, lock, cpu:load(lock.readers), left)) & WRITERS_TURN ~= 0 then set_turn(cpu, lock, 1) end
end

-- Waits until this CPU is the writer whose turn is next; returns `readers`, and whether others may sleep for `queue`.
local function become_writer(cpu, lock, seen)
  local sleeps = 0
  while true do
    if seen & WRITER == 0 then
      local found = cpu:compare_exchange(lock.readers, seen, seen | WRITER)
      if found == seen then return seen | WRITER, sleeps end
      seen = found
    else
      local queue = cpu:load(lock.rest.queue)
      if queue & 1 == 0 then
        cpu:spin_until_any { { lock.readers, "==", 0, WRITER }, { lock.rest.queue, "==", 1, 1 } }
      elseif queue & SLEEPS ~= 0 or cpu:compare_exchange(lock.rest.queue, 1, 1 | SLEEPS) == 1 then
        sleeps = SLEEPS
        cpu:futex_wait(lock.rest.queue, 1 | SLEEPS)
      end
      seen = cpu:load(lock.readers)
    end
  end
end

function acquire(cpu, lock)
  cpu:execute(WRITES)
  cpu:load(lock.writer)
  local seen = update(cpu, lock, cpu:load(lock.readers), function(now) return now | WRITER end)
  local waited, sleeps = seen & WRITER ~= 0, 0
  if waited then seen, sleeps = become_writer(cpu, lock, seen) end
  cpu:store(lock.rest.queue, 1 | sleeps)
  if seen & WRITERS_TURN == 0 then
    local _, began = update(cpu, lock, seen | WRITER, function(now)
      if now < READER and now & WRITERS_TURN == 0 then return now | WRITERS_TURN end
    end)
    if began then
      cpu:store(lock.rest.turn, 1)
    else
      await_turn(cpu, lock, 0)
      waited = true
    end
  end
  cpu:store(lock.writer, cpu.id + 1)
  return waited
end

function release(cpu, lock)
  cpu:execute(WRITES)
  cpu:store(lock.writer, 0)
  local wakes = cpu:exchange(lock.rest.queue, 0) & SLEEPS ~= 0
  local before = update(cpu, lock, cpu:load(lock.readers), function(now)
    return now ~ WRITER ~ (now < READER and 0 or WRITERS_TURN)
  end)
  if before >= READER then set_turn(cpu, lock, 0) end
  if wakes then cpu:futex_wake(lock.rest.queue) end
end
