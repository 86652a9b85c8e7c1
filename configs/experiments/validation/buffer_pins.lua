-- Index look-ups of a database, PostgreSQL 9.6: a buffer is pinned under its header's spinlock, its content lock is taken shared, and
-- both are given back. The content lock is in an array of its own, or in the header.
title = "Buffers pinned and locked: the lock beside the pin, or on a line of its own"
parameters = {
  { name = "together", default = false, meaning = "the content lock is in the buffer's header" },
  { name = "buffers", default = 2000, min = 4, max = 100000, meaning = "leaves and heap pages; a root and a few inner pages besides" },
  { name = "query_cycles", default = 150000, min = 0, max = 1e9, meaning = "of a query beside its buffers" },
}

local INNER <const> = 16

function setup()
  headers = place(structure { name = "BufferDesc", { "tag", at = 0 }, { "refcount", at = 28, bytes = 4 },
    { "hdr_lock", at = 32, bytes = 4 }, { "content", at = 40, bytes = 4 }, size = 64, align = 64 }, "BufferDesc",
    { count = workload.buffers + INNER + 1 })
  -- LWLocks of 32 bytes each, two to a line
  locks = place(structure { name = "LWLock", { "state", at = 4, bytes = 4 }, size = 32, align = 32 }, "LWLock",
    { count = workload.buffers + INNER + 1 })
end

local function pin(cpu, buffer, by)
  while cpu:exchange(buffer.hdr_lock, 1) ~= 0 do cpu:spin_until(buffer.hdr_lock, "==", 0) end
  cpu:store(buffer.refcount, cpu:load(buffer.refcount) + by)
  cpu:store_release(buffer.hdr_lock, 0)
end
local visit = named("ReadBuffer", function(cpu, number, cycles)
  local buffer = headers[number]
  local lock = workload.together and buffer.content or locks[number].state
  cpu:load(buffer.tag)
  pin(cpu, buffer, 1)
  local state = cpu:load(lock)
  while true do
    local seen = cpu:compare_exchange(lock, state, state + 1)
    if seen == state then break end
    state = seen
  end
  cpu:compute_about(cycles)
  cpu:fetch_add(lock, -1)
  pin(cpu, buffer, -1)
end)

function run(cpu)
  local part = workload.query_cycles // 8
  while true do
    cpu:compute_about(part * 4)
    visit(cpu, 0, part)
    visit(cpu, 1 + cpu:random(INNER), part)
    visit(cpu, 1 + INNER + cpu:random(workload.buffers), part)
    visit(cpu, 1 + INNER + cpu:random(workload.buffers), part)
    cpu:tally()
  end
end
