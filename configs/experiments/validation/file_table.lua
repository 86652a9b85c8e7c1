-- Threads of one process that make pipes and close them, Linux 4.2: a descriptor is reserved under the file table's lock, filled in
-- under it again or without it, and given back under it.
title = "Descriptors of one process: filled in under the table's lock, or without"
parameters = {
  { name = "install_locked", default = true, meaning = "fd_install() takes the lock" },
  { name = "pipe_cycles", default = 7500, min = 0, max = 1e9, meaning = "of making and closing a pipe, beside the table" },
}

function setup()
  files = place(structure { name = "files_struct", { "count", at = 0, bytes = 4 }, { "fdt", at = 8 }, { "next", at = 64, bytes = 2 },
    { "serving", at = 66, bytes = 2 }, { "next_fd", at = 68, bytes = 4 }, align = 64 }, "files_struct")
  descriptors = place(structure { name = "fdtable", { "open", bytes = 8, count = 8 }, { "fd", bytes = 8, count = 4 * machine.cpus },
    align = 64 }, "fdtable")
end

local function locked(cpu, work)
  local ticket = cpu:fetch_add(files.next, 1)
  cpu:spin_until_acquire(files.serving, "==", ticket)
  work()
  cpu:store_release(files.serving, (ticket + 1) & 0xFFFF)
end
local reserve = named("__alloc_fd", function(cpu, number)
  locked(cpu, function()
    cpu:load(files.fdt)
    cpu:load(files.next_fd)
    local bits = descriptors.open[number // 64 % 8]
    cpu:store(bits, cpu:load(bits) | 1 << number % 63)
    cpu:execute(60)
    cpu:store(files.next_fd, number + 1)
  end)
end)
local install = named("fd_install", function(cpu, number)
  local function fill()
    cpu:load(files.fdt)
    cpu:store(descriptors.fd[number], 1)
  end
  if workload.install_locked then locked(cpu, fill) else fill() end
end)
local close = named("__close_fd", function(cpu, number)
  locked(cpu, function()
    cpu:load(files.fdt)
    cpu:load(descriptors.fd[number])
    cpu:store(descriptors.fd[number], 0)
    local bits = descriptors.open[number // 64 % 8]
    cpu:store(bits, cpu:load(bits) & ~(1 << number % 63))
    if number < cpu:load(files.next_fd) then cpu:store(files.next_fd, number) end
    cpu:execute(30)
  end)
end)

function run(cpu)
  local part = workload.pipe_cycles // 4
  local first = 4 * cpu.id
  while true do
    cpu:compute_about(part)
    reserve(cpu, first)
    reserve(cpu, first + 1)
    cpu:compute_about(part)
    install(cpu, first)
    install(cpu, first + 1)
    for i = 0, 1 do
      cpu:compute_about(part)
      close(cpu, first + i)
    end
    cpu:tally()
  end
end
