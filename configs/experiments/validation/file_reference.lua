-- One open file that all threads use, Linux 6.12 to 6.15: each system call takes and drops a reference to it. There are two
-- changes. "Take a reference unless the count is zero" becomes an addition instead of a compare-and-exchange loop. And the
-- count leaves the line that every call reads.
title = "struct file: how its reference is taken, and on which line it lies"
parameters = {
  { name = "taken_by", default = "loop", choices = { "loop", "addition" }, meaning = "how a reference is taken" },
  { name = "count_at", default = 0, min = 0, max = 176, meaning = "offset of the reference count" },
  { name = "files", default = 1, min = 1, max = 1024, meaning = "of which each call uses one at random" },
  { name = "own_file", default = false, meaning = "each CPU uses a file of its own" },
  { name = "reads", default = 2, min = 0, max = 5, meaning = "fields of the first line that a call reads, one after the other" },
  { name = "call_cycles", default = 800, min = 0, max = 1e9, meaning = "of the call, beside the file" },
  { name = "user_cycles", default = 0, min = 0, max = 1e9, meaning = "between two calls" },
}

function setup()
  local file = structure { name = "file", { "f_ref", at = workload.count_at },
    { "read", at = 8, bytes = 8, count = 5 }, -- f_mode, f_op, f_mapping, f_inode and f_flags
    size = 192, align = 64 }
  files = place(file, "file", { count = workload.own_file and machine.cpus or workload.files })
  table_of_files = place(structure { name = "fdtable", { "fd", bytes = 8, count = 8 }, align = 64 }, "fdtable")
  for i = 0, (workload.own_file and machine.cpus or workload.files) - 1 do preset(files[i].f_ref, 1) end
end

local get = named("fget", function(cpu, file)
  cpu:load(table_of_files.fd[0])
  if workload.taken_by == "addition" then
    cpu:fetch_add(file.f_ref, 1)
  else
    local count = cpu:load(file.f_ref)
    while true do
      local seen = cpu:compare_exchange(file.f_ref, count, count + 1)
      if seen == count then break end
      count = seen
    end
  end
  cpu:load(table_of_files.fd[0])
end)
local put = named("fput", function(cpu, file) cpu:fetch_add(file.f_ref, -1) end)

function run(cpu)
  local part = workload.call_cycles // (workload.reads + 1)
  while true do
    if workload.user_cycles > 0 then cpu:compute_about(workload.user_cycles) end
    local file = files[workload.own_file and cpu.id or workload.files > 1 and cpu:random(workload.files) or 0]
    get(cpu, file)
    for i = 0, workload.reads - 1 do
      cpu:load(file.read[i])
      cpu:compute_about(part)
    end
    cpu:compute_about(part)
    put(cpu, file)
    cpu:tally()
  end
end
