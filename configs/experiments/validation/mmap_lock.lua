-- mmap() and munmap() by all threads of a process, Linux 5.10. A reader-writer semaphore is taken for writing. Its waiters
-- form an MCS queue, of which the first spins on the owner. What it teaches: a CPU that arrives writes the count; the
-- question is whether the waiters should notice that.
title = "mmap_lock: its count on the line before its owner, or on the same one"
parameters = {
  { name = "count_at", default = 120, min = 64, max = 192, meaning = "offset of the semaphore, which begins with its count" },
  { name = "inside_lines", default = 6, min = 0, max = 64, meaning = "that the holder writes" },
  { name = "inside_cycles", default = 2500, min = 0, max = 1e9, meaning = "computed by the holder" },
  { name = "outside_cycles", default = 1000, min = 0, max = 1e9, meaning = "computed between two calls" },
}

local NOBODY <const> = 0 -- a CPU is written as its number + 1

function setup()
  local at = workload.count_at
  mm = place(structure { name = "mm_struct", { "mm_users", at = 56, bytes = 4 }, { "count", at = at }, { "owner", at = at + 8 },
    { "osq", at = at + 16, bytes = 4 }, size = 320, align = 64 }, "mm_struct")
  nodes = place_per_cpu(structure { name = "optimistic_spin_node", "next", "locked:4", align = 64 }, "optimistic_spin_node")
  tree = place(structure { name = "vm_area", "start", align = 64 }, "vm_area", { count = math.max(1, workload.inside_lines) })
end

local function try(cpu) return cpu:compare_exchange(mm.count, 0, 1) == 0 end
local spin = named("rwsem_optimistic_spin", function(cpu, me, mine)
  cpu:store(mine.next, NOBODY)
  cpu:store(mine.locked, 0)
  local before = cpu:exchange(mm.osq, me)
  if before ~= NOBODY then
    cpu:store_release(nodes[before - 1].next, me)
    cpu:spin_until_acquire(mine.locked, "==", 1)
  end
  while true do
    local owner = cpu:load(mm.owner)
    if owner ~= NOBODY then cpu:spin_until(mm.owner, "~=", owner) end
    if cpu:load(mm.count) == 0 and try(cpu) then break end
  end
  cpu:store(mm.owner, me)
  if cpu:compare_exchange(mm.osq, me, NOBODY) == me then return end
  cpu:store_release(nodes[cpu:spin_until(mine.next, "~=", NOBODY) - 1].locked, 1)
end)
local acquire = named("down_write", function(cpu, me, mine)
  if try(cpu) then
    cpu:store(mm.owner, me)
  else
    cpu:load(mm.owner) -- rwsem_can_spin_on_owner()
    spin(cpu, me, mine)
  end
end)
local release = named("up_write", function(cpu)
  cpu:store(mm.owner, NOBODY)
  cpu:fetch_add(mm.count, -1)
end)

function run(cpu)
  local me, mine = cpu.id + 1, nodes[cpu.id]
  while true do
    cpu:compute_about(workload.outside_cycles)
    acquire(cpu, me, mine)
    for i = 0, workload.inside_lines - 1 do cpu:store(tree[i].start, cpu:load(tree[i].start) + 1) end
    cpu:compute_about(workload.inside_cycles)
    release(cpu)
    cpu:tally()
  end
end
