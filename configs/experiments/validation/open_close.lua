-- open() for reading and close() of one file by all CPUs, Linux 6.19: the dentry's lockref moves four times, the inode's i_readcount
-- twice; whether the file has locks is read at both, from a field beside i_readcount or from flags that are never written.
title = "One file opened and closed by all: whether it has locks is read beside a count, or elsewhere"
parameters = {
  { name = "flag", default = false, meaning = "a flag says that there are no locks" },
  { name = "open_cycles", default = 4500, min = 0, max = 1e9, meaning = "of open() and close() beside these fields" },
}

function setup()
  dentry = place(structure { name = "dentry", { "d_seq", at = 4, bytes = 4 }, { "d_inode", at = 48 }, { "d_lockref", at = 128 },
    size = 192, align = 64 }, "dentry")
  inode = place(structure { name = "inode", { "i_mode", at = 0, bytes = 2 }, { "i_opflags", at = 2, bytes = 2 }, { "i_op", at = 32 },
    { "i_readcount", at = 384, bytes = 4 }, { "i_fop", at = 392 }, { "i_flctx", at = 400 }, size = 640, align = 64 }, "inode")
  preset(dentry.d_lockref, 1)
end

local function change(cpu, by)
  local count = cpu:load(dentry.d_lockref)
  while true do
    local seen = cpu:compare_exchange(dentry.d_lockref, count, count + by)
    if seen == count then return end
    count = seen
  end
end
local has_locks = named("locks_inode_context", function(cpu)
  cpu:load(inode.i_opflags)
  if not workload.flag then cpu:load(inode.i_flctx) end
end)
local open = named("do_dentry_open", function(cpu, part)
  change(cpu, 1) -- complete_walk()
  cpu:compute_about(part)
  change(cpu, 1) -- path_get()
  cpu:load(inode.i_mode)
  cpu:fetch_add(inode.i_readcount, 1)
  cpu:load(inode.i_fop)
  cpu:compute_about(part)
  has_locks(cpu) -- break_lease()
  change(cpu, -1) -- terminate_walk()
end)
local close = named("__fput", function(cpu, part)
  has_locks(cpu) -- locks_remove_posix()
  cpu:compute_about(part)
  has_locks(cpu) -- locks_remove_file()
  cpu:fetch_add(inode.i_readcount, -1)
  change(cpu, -1)
end)

function run(cpu)
  local part = workload.open_cycles // 5
  while true do
    cpu:compute_about(part)
    open(cpu, part)
    cpu:compute_about(part)
    close(cpu, part)
    cpu:tally()
  end
end
