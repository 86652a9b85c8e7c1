-- Readers of Linux 4.1's queued reader-writer lock, one of 10,000 sections being a writer's. What it teaches: a reader that
-- has waited its turn can add itself at once, and need not first see the writer's byte cleared.
title = "Linux's qrwlock: a waiting reader adds itself at once, or when the writer has gone"
parameters = {
  { name = "variant", default = "adds_first", choices = { "adds_first", "waits_first", "given" },
    meaning = "what a reader does whose turn it is; given: `lock` is used" },
  { name = "lock", default = "rwlock", lock = true, meaning = "for the variant `given`" },
  { name = "writes_in_10000", default = 1, min = 0, max = 10000, meaning = "sections that write" },
  { name = "outside_cycles", default = 10, min = 0, max = 1e9, meaning = "computed between two sections" },
}

-- The word of Linux 4.1: the writer's byte, and a count of readers above it.
local WAITING <const>, LOCKED <const>, WRITER <const>, READER <const> = 1, 0xff, 0xff, 0x100

function setup()
  if workload.variant == "given" then
    given = lock(workload.lock, "given")
  else
    rw = place(structure { name = "qrwlock", { "cnts", at = 0, bytes = 4 }, { "writer", at = 0, bytes = 1 },
      { "turn", at = 4, bytes = 2 }, { "next", at = 6, bytes = 2 }, align = "line" }, "qrwlock")
  end
end

local function take_turn(cpu) -- a ticket lock, as wait_lock was then
  local mine = cpu:fetch_add(rw.next, 1)
  if cpu:load_acquire(rw.turn) ~= mine then cpu:spin_until_acquire(rw.turn, "==", mine) end
  return (mine + 1) % 0x10000
end

local function read_lock(cpu)
  if cpu:fetch_add(rw.cnts, READER) & WRITER == 0 then return end
  cpu:fetch_add(rw.cnts, -READER)
  local after = take_turn(cpu)
  if workload.variant == "waits_first" then cpu:spin_until(rw.cnts, "==", 0, WRITER) end
  if cpu:fetch_add(rw.cnts, READER) & WRITER == LOCKED then cpu:spin_until_acquire(rw.cnts, "~=", LOCKED, WRITER) end
  cpu:store_release(rw.turn, after)
end

local function write_lock(cpu)
  if cpu:compare_exchange(rw.cnts, 0, LOCKED) == 0 then return end
  local after = take_turn(cpu)
  if cpu:load(rw.cnts) ~= 0 or cpu:compare_exchange(rw.cnts, 0, LOCKED) ~= 0 then
    repeat
      local seen = cpu:spin_until(rw.cnts, "==", 0, WRITER)
    until cpu:compare_exchange(rw.cnts, seen, seen | WAITING) == seen
    repeat
      cpu:spin_until(rw.cnts, "==", WAITING)
    until cpu:compare_exchange(rw.cnts, WAITING, LOCKED) == WAITING
  end
  cpu:store_release(rw.turn, after)
end

function run(cpu)
  while true do
    local writes = cpu:random(10000) < workload.writes_in_10000
    if given then
      if writes then
        cpu:acquire(given)
        cpu:release(given)
      else
        cpu:acquire_shared(given)
        cpu:release_shared(given)
      end
    elseif writes then
      write_lock(cpu)
      cpu:store_release(rw.writer, 0)
    else
      read_lock(cpu)
      cpu:fetch_add(rw.cnts, -READER)
    end
    cpu:tally()
    cpu:compute(workload.outside_cycles)
  end
end
