-- SLUB with and without lists of partial slabs for each CPU, Linux 3.1. Pairs of CPUs send messages, and the receiver frees
-- what the sender has allocated. When an object of a full slab is freed, the slab goes onto a list. That is the node's list,
-- under its lock, or a list of the CPU that freed; the latter list is later moved to the node's in one piece. With few
-- messages under way, slabs rarely fill up at all.
title = "Objects allocated by one CPU and freed by another one: the node's list of partial slabs"
parameters = {
  { name = "per_cpu", default = false, meaning = "CPUs have partial slabs of their own" },
  { name = "outstanding", default = 256, min = 1, max = 4096, meaning = "messages under way between a pair, each way" },
  { name = "objects_per_slab", default = 16, min = 2, max = 64, meaning = "512 bytes of an 8 KiB slab" },
  { name = "keep", default = 13, min = 1, max = 128, meaning = "slabs that a CPU lists before it gives them to the node (cpu_partial)" },
  { name = "message_cycles", default = 8000, min = 0, max = 1e9, meaning = "of sending and receiving one, beside the allocator" },
}

local EMPTY <const> = -1

function setup()
  local share = workload.objects_per_slab
  slabs_per_cpu = (workload.outstanding * 2 + workload.keep * share) // share + 8
  slabs = place(structure { name = "page", "next", "free:4", "frozen:4", size = 64, align = 64 }, "page",
    { count = slabs_per_cpu * machine.cpus }) -- `free`: how many objects are free; all objects of a slab are alike here
  nodes = {}
  for n = 0, machine.nodes - 1 do
    nodes[n] = place(structure { name = "kmem_cache_node", "next:2", "serving:2", { "first", at = 8 }, { "last", at = 16 },
      { "nr_partial", at = 24 }, align = 64 }, "kmem_cache_node." .. n, { node = n })
  end
  caches = place_per_cpu(structure { name = "kmem_cache_cpu", "freelist", "page", "partial", align = 64 }, "kmem_cache_cpu")
  rings = place_per_cpu(structure { name = "socket", "tail", { "head", at = 64 },
    { "slot", at = 128, bytes = 8, count = workload.outstanding }, align = 64 }, "socket") -- the messages that a CPU has sent
  for n = 0, machine.nodes - 1 do
    preset(nodes[n].first, EMPTY)
  end
  local chain = {} -- at first no slab has allocated objects, and all are on their nodes' lists
  for cpu = 0, machine.cpus - 1 do
    local n = machine.node_of[cpu]
    for i = 0, slabs_per_cpu - 1 do
      local number = cpu * slabs_per_cpu + i
      preset(slabs[number].free, workload.objects_per_slab)
      preset(slabs[number].next, chain[n] or EMPTY)
      chain[n] = number
    end
  end
  for n, first in pairs(chain) do preset(nodes[n].first, first) end
end

local function locked(cpu, node, work)
  local ticket = cpu:fetch_add(node.next, 1)
  cpu:spin_until_acquire(node.serving, "==", ticket)
  local result = work()
  cpu:store_release(node.serving, (ticket + 1) & 0xFFFF)
  return result
end
local function change_free(cpu, slab, by) -- cmpxchg_double_slab()
  local free = cpu:load(slab.free)
  while true do
    local seen = cpu:compare_exchange(slab.free, free, free + by)
    if seen == free then return free end
    free = seen
  end
end

local refill = named("__slab_alloc", function(cpu, own, state)
  local number
  if #state.partial > 0 then
    number = table.remove(state.partial)
    cpu:store(own.partial, number)
  else
    local node = nodes[machine.node_of[cpu.id]]
    number = locked(cpu, node, function()
      local first = cpu:load(node.first)
      if first == EMPTY then return EMPTY end
      cpu:store(node.first, cpu:load(slabs[first].next))
      cpu:store(node.nr_partial, cpu:load(node.nr_partial) - 1)
      cpu:store(slabs[first].frozen, 1)
      return first
    end)
    if number == EMPTY then return false end
  end
  if state.page then cpu:store(slabs[state.page].frozen, 0) end
  state.page = number
  cpu:store(slabs[number].frozen, 1)
  local free = cpu:load(slabs[number].free)
  while true do -- takes all free objects
    local seen = cpu:compare_exchange(slabs[number].free, free, 0)
    if seen == free then break end
    free = seen
  end
  state.free = free
  return free > 0
end)
local allocate = named("kmem_cache_alloc", function(cpu, own, state)
  cpu:load(own.freelist)
  for _ = 1, 4 do
    if state.free > 0 then break end
    local taken = state.page and change_free(cpu, slabs[state.page], 0) or 0 -- the objects that other CPUs have freed meanwhile
    if taken > 0 and cpu:compare_exchange(slabs[state.page].free, taken, 0) == taken then
      state.free = taken
    else
      refill(cpu, own, state)
    end
  end
  if state.free == 0 then return nil end
  state.free = state.free - 1
  cpu:store(own.freelist, state.free)
  return state.page
end)
local free = named("__slab_free", function(cpu, own, state, number)
  local before = change_free(cpu, slabs[number], 1)
  if before > 0 or cpu:load(slabs[number].frozen) == 1 then return end
  local node = nodes[machine.node_of[cpu.id]]
  local function to_node(numbers)
    locked(cpu, node, function()
      for _, one in ipairs(numbers) do
        cpu:store(slabs[one].next, cpu:load(node.first))
        cpu:store(node.first, one)
      end
      cpu:store(node.nr_partial, cpu:load(node.nr_partial) + #numbers)
    end)
  end
  if not workload.per_cpu then return to_node({ number }) end
  state.partial[#state.partial + 1] = number
  cpu:store(own.partial, number)
  if #state.partial >= workload.keep then
    to_node(state.partial)
    state.partial = {}
  end
end)

function run(cpu)
  local partner = cpu.id ~ 1
  if partner >= machine.cpus then partner = cpu.id end
  local own, state = caches[cpu.id], { free = 0, partial = {} }
  local out, into, size = rings[cpu.id], rings[partner], workload.outstanding
  local sent, received = 0, 0
  while true do
    cpu:compute_about(workload.message_cycles)
    if sent - cpu:load_acquire(out.head) < size then
      local number = allocate(cpu, own, state)
      if number then
        cpu:store(out.slot[sent % size], number)
        sent = sent + 1
        cpu:store_release(out.tail, sent)
      end
    end
    -- The receiver lets half of the allowed messages wait. It lags by that much, as tasks do that wait for a CPU.
    if cpu:load_acquire(into.tail) - received > size // 2 then
      free(cpu, own, state, cpu:load(into.slot[received % size]))
      received = received + 1
      cpu:store_release(into.head, received)
      cpu:tally()
    end
  end
end
