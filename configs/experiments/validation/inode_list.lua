-- Inodes that threads create and drop: each goes onto its file system's list of inodes and off it again, under one lock, or onto one
-- of a list for each CPU (Linux 4.5).
title = "A file system's list of inodes: one with one lock, or one for each CPU"
parameters = {
  { name = "per_cpu", default = false, meaning = "each CPU has a list and a lock" },
  { name = "inodes", default = 32, min = 2, max = 1024, meaning = "of each CPU, dropped in order of creation" },
  { name = "inode_cycles", default = 8000, min = 0, max = 1e9, meaning = "of creating and dropping one, beside the list" },
}

local HEAD <const> = -1

function setup()
  heads = place(structure { name = "super_block", { "s_inodes.next", at = 0 }, { "s_inodes.prev", at = 8 },
    { "ticket", at = 64, bytes = 2 }, { "serving", at = 66, bytes = 2 }, align = 64 }, "super_block", { count = workload.per_cpu and machine.cpus or 1 })
  inodes = place(structure { name = "inode", { "i_state", at = 0 }, { "i_sb_list.next", at = 128 }, { "i_sb_list.prev", at = 136 },
    size = 576, align = 64 }, "inode", { count = workload.inodes * machine.cpus })
  for i = 0, (workload.per_cpu and machine.cpus or 1) - 1 do
    preset(heads[i]["s_inodes.next"], HEAD)
    preset(heads[i]["s_inodes.prev"], HEAD)
  end
end

local function link(head, number) return number == HEAD and head["s_inodes.next"] or inodes[number]["i_sb_list.next"] end
local function back(head, number) return number == HEAD and head["s_inodes.prev"] or inodes[number]["i_sb_list.prev"] end
local function locked(cpu, head, work)
  local ticket = cpu:fetch_add(head.ticket, 1)
  cpu:spin_until_acquire(head.serving, "==", ticket)
  work()
  cpu:store_release(head.serving, (ticket + 1) & 0xFFFF)
end
local add = named("inode_sb_list_add", function(cpu, head, number)
  locked(cpu, head, function()
    local first = cpu:load(link(head, HEAD))
    cpu:store(link(head, number), first)
    cpu:store(back(head, number), HEAD)
    cpu:store(back(head, first), number)
    cpu:store(link(head, HEAD), number)
  end)
end)
local drop = named("inode_sb_list_del", function(cpu, head, number)
  locked(cpu, head, function()
    local after, before = cpu:load(link(head, number)), cpu:load(back(head, number))
    cpu:store(link(head, before), after)
    cpu:store(back(head, after), before)
  end)
end)

function run(cpu)
  local head, first = heads[workload.per_cpu and cpu.id or 0], cpu.id * workload.inodes
  local half, made = workload.inode_cycles // 2, 0
  while true do
    local number = first + made % workload.inodes
    if made >= workload.inodes then
      cpu:compute_about(half)
      drop(cpu, head, number)
    end
    cpu:compute_about(half)
    cpu:store(inodes[number].i_state, made)
    add(cpu, head, number)
    made = made + 1
    cpu:tally()
  end
end
