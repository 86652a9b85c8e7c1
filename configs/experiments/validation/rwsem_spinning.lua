-- Writers of Linux 3.16's semaphore: they spin in a queue while the owner runs, or sleep in a list. What it teaches: what sleeping
-- costs where the holder is soon done.
title = "Linux's rwsem: writers spin in a queue, or sleep in a list"
parameters = {
  { name = "variant", default = "spins", choices = { "sleeps", "spins", "given" },
    meaning = "what a writer does that must wait; given: `lock` is used" },
  { name = "lock", default = "mcs", lock = true, meaning = "for the variant `given`" },
  { name = "inside_cycles", default = 1000, min = 0, max = 1e9, meaning = "computed by the holder" },
  { name = "outside_cycles", default = 20000, min = 0, max = 1e9, meaning = "computed between two sections" },
}

local NOBODY <const> = 0 -- CPUs are written as their number + 1

function setup()
  if workload.variant == "given" then
    given = lock(workload.lock, "given")
    return
  end
  sem = place(structure { name = "rw_semaphore", "count", "first:4", "last:4", "wait_lock:4", "tail:4", "owner", align = 64 },
    "rw_semaphore")
  nodes = place_per_cpu(structure { name = "node", "next:4", "served:4", align = 64 }, "node")
end

local function try(cpu) return cpu:load(sem.count) == 0 and cpu:compare_exchange(sem.count, 0, 1) == 0 end
local function lock_list(cpu)
  while cpu:exchange(sem.wait_lock, 1) ~= 0 do cpu:spin_until(sem.wait_lock, "==", 0) end
end

local spin = named("rwsem_optimistic_spin", function(cpu, me, mine)
  cpu:store(mine.next, NOBODY)
  cpu:store(mine.served, 0)
  local before = cpu:exchange(sem.tail, me)
  if before ~= NOBODY then
    cpu:store_release(nodes[before - 1].next, me)
    cpu:spin_until_acquire(mine.served, "==", 1)
  end
  repeat
    cpu:spin_until(sem.count, "==", 0)
  until try(cpu)
  if cpu:compare_exchange(sem.tail, me, NOBODY) ~= me then
    cpu:store_release(nodes[cpu:spin_until(mine.next, "~=", NOBODY) - 1].served, 1)
  end
end)

-- The list's first waiter takes the semaphore when it is free, or sleeps until a holder wakes it.
local sleep = named("rwsem_down_write_failed", function(cpu, me, mine)
  lock_list(cpu)
  cpu:store(mine.next, NOBODY)
  local last = cpu:load(sem.last)
  if last == NOBODY then cpu:store(sem.first, me) else cpu:store(nodes[last - 1].next, me) end
  cpu:store(sem.last, me)
  cpu:fence() -- the kernel adds the waiters' bias to the count here
  while cpu:load(sem.first) ~= me or not try(cpu) do
    cpu:store_release(sem.wait_lock, 0)
    cpu:sleep()
    lock_list(cpu)
  end
  local next = cpu:load(mine.next)
  cpu:store(sem.first, next)
  if next == NOBODY then cpu:store(sem.last, NOBODY) end
  cpu:store_release(sem.wait_lock, 0)
end)

local acquire = named("down_write", function(cpu, me, mine)
  if cpu:compare_exchange(sem.count, 0, 1) == 0 then return end
  if workload.variant == "spins" then spin(cpu, me, mine) else sleep(cpu, me, mine) end
end)
local release = named("up_write", function(cpu)
  cpu:fetch_add(sem.count, -1)
  if workload.variant == "spins" or cpu:load(sem.first) == NOBODY then return end
  lock_list(cpu)
  local first = cpu:load(sem.first)
  if first ~= NOBODY then cpu:wake(first - 1) end
  cpu:store_release(sem.wait_lock, 0)
end)

local function run_given(cpu)
  while true do
    cpu:acquire(given)
    cpu:compute_about(workload.inside_cycles)
    cpu:release(given)
    cpu:tally()
    cpu:compute_about(workload.outside_cycles)
  end
end

function run(cpu)
  if given then run_given(cpu) end
  local me, mine = cpu.id + 1, nodes[cpu.id]
  while true do
    acquire(cpu, me, mine)
    cpu:store(sem.owner, me)
    cpu:compute_about(workload.inside_cycles)
    release(cpu)
    cpu:tally()
    cpu:compute_about(workload.outside_cycles)
  end
end
