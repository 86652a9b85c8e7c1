-- One CPU hands integers to another one through a ring. What it teaches: a CPU that reads the other's index for each item
-- takes that line away from its writer. A CPU that remembers the index that it read last reads it again only when the ring
-- seems to be full or empty.
title = "A ring between two CPUs: the other's index is read for each item, or remembered"
parameters = {
  { name = "remembered", default = false, meaning = "the other's index is read only if what was read last says full or empty" },
  { name = "answered", default = false, meaning = "each item is answered through a second ring before the next; else items go one way" },
  { name = "lines", default = 8192, min = 2, max = 65536, meaning = "of a ring, of 16 items of 4 bytes each" },
}

function setup()
  local indices = structure { name = "ring", "write", { "read", at = 64 }, size = 128, align = 64 }
  local line = structure { name = "ring_line", { "item", bytes = 4, count = 16 }, align = 64 }
  items = workload.lines * 16
  local function ring(name)
    return { index = place(indices, name), line = place(line, name .. "_lines", { count = workload.lines }), seen = 0 }
  end
  there, back = ring("there"), ring("back")
end

-- `seen`: what this CPU remembers of the other's index. Each CPU has a copy of its own.
local push = named("push", function(cpu, ring, value)
  local at = cpu:load(ring.index.write)
  local next = (at + 1) % items
  cpu:execute(6)
  if not workload.remembered then ring.seen = cpu:load_acquire(ring.index.read) end
  if next == ring.seen then ring.seen = cpu:spin_without_pause(ring.index.read, "~=", next) end
  cpu:store(ring.line[at // 16].item[at % 16], value)
  cpu:store_release(ring.index.write, next)
end)

local pop = named("pop", function(cpu, ring)
  local at = cpu:load(ring.index.read)
  cpu:execute(6)
  if not workload.remembered then ring.seen = cpu:load_acquire(ring.index.write) end
  if at == ring.seen then ring.seen = cpu:spin_without_pause(ring.index.write, "~=", at) end
  local value = cpu:load(ring.line[at // 16].item[at % 16])
  cpu:store_release(ring.index.read, (at + 1) % items)
  return value
end)

-- The ring's lines are in the cache of the one who will write them, as if they had been fetched ahead.
local function own(cpu, ring)
  for i = 0, workload.lines - 1 do cpu:store(ring.line[i].item[0], 0) end
  cpu:fence()
end

function run(cpu)
  if cpu.id == 0 then
    own(cpu, there)
    local value = 0
    while true do
      value = (value + 1) & 0xFFFF
      push(cpu, there, value)
      if workload.answered then
        pop(cpu, back)
        cpu:tally()
      end
    end
  elseif cpu.id == 1 then
    own(cpu, back)
    while true do
      local value = pop(cpu, there)
      if workload.answered then push(cpu, back, value) else cpu:tally() end
    end
  end
end
