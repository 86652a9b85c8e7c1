-- stat() of one file by all CPUs, Linux 6.10: its dentry's name is compared without a lock, then its lockref is taken and
-- dropped. What it teaches: an operation writes the lockref's line twice. If it also reads a field on that line, the line is
-- transferred a third time.
title = "One file's dentry: its lockref on the line of its name, or on the next one"
parameters = {
  { name = "lockref_at", default = 96, min = 96, max = 184, meaning = "offset of d_lockref" },
  { name = "name_bytes", default = 24, min = 1, max = 40, meaning = "of the file's name" },
  { name = "stat_cycles", default = 1200, min = 0, max = 1e9, meaning = "of the system call beside the dentry" },
}

function setup()
  dentry = place(structure { name = "dentry", { "d_flags", at = 0, bytes = 4 }, { "d_seq", at = 4, bytes = 4 }, { "d_hash", at = 8 },
    { "d_parent", at = 24 }, { "d_name.hash_len", at = 32 }, { "d_name.name", at = 40 }, { "d_inode", at = 48 },
    { "d_iname", at = 56, bytes = 8, count = 5 }, { "d_lockref", at = workload.lockref_at }, size = 192, align = 64 }, "dentry")
  hash = place(structure { name = "dentry_hashtable", "first", align = 64 }, "dentry_hashtable")
  preset(dentry.d_lockref, 1)
end

local function change(cpu, by) -- CMPXCHG_LOOP
  local count = cpu:load(dentry.d_lockref)
  while true do
    local seen = cpu:compare_exchange(dentry.d_lockref, count, count + by)
    if seen == count then return end
    count = seen
  end
end
local lookup = named("__d_lookup_rcu", function(cpu)
  cpu:load(hash.first)
  cpu:load(dentry.d_seq)
  cpu:load(dentry.d_parent)
  cpu:load(dentry.d_hash)
  cpu:load(dentry["d_name.hash_len"])
  cpu:load(dentry["d_name.name"])
  for i = 0, (workload.name_bytes - 1) // 8 do cpu:load(dentry.d_iname[i]) end
  cpu:load(dentry.d_inode)
  cpu:load(dentry.d_flags)
  cpu:execute(60)
end)
local get = named("lockref_get_not_dead", function(cpu) change(cpu, 1) end)
local put = named("lockref_put_return", function(cpu) change(cpu, -1) end)

function run(cpu)
  local half = workload.stat_cycles // 2
  while true do
    cpu:compute_about(half)
    lookup(cpu)
    get(cpu)
    cpu:load(dentry.d_seq)
    cpu:load(dentry.d_inode)
    cpu:compute_about(half)
    put(cpu)
    cpu:load(dentry.d_flags)
    cpu:tally()
  end
end
