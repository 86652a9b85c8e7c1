-- Read-copy update: readers of a list write nothing. A writer puts a copy in an element's place, and uses the old element
-- again once every CPU has been outside the list. What it teaches: the writer pays by waiting; a reader only stores to a line
-- of its own.
title = "A list under read-copy update"
parameters = {
  { name = "elements", default = 16, min = 1, max = 4096, meaning = "of the list" },
  { name = "write_pct", default = 2, min = 0, max = 100, meaning = "operations that change the list" },
  { name = "outside_cycles", default = 500, min = 1, max = 1e9, meaning = "mean time between two operations" },
}
tallies = { "lookups", "updates" }
function setup()
  element = structure { name = "element", "next", "key", "check", align = "line" }
  list = place(structure { name = "list", "head", "spare", align = "line" }, "list")
  local below = 0
  for key, each in pairs(place(element, "element", { count = workload.elements })) do
    for _, field in ipairs { "key", "check" } do preset(each[field], key) end
    preset(each.next, below)
    below = each.address
  end
  preset(list.head, below)
  preset(list.spare, place(element, "spare").address)
  state = place_per_cpu(structure { name = "rcu_state", "passed" }, "rcu_state")
  writers = lock("mcs", "list_lock")
end
local lookup = named("lookup", function(cpu, key) -- returns the element, and the word that points to it
  local link = list.head
  while true do
    local at = cpu:load_acquire(link)
    local found, check = cpu:load(at + element.key), cpu:load(at + element.check)
    assert(found == check, "a reader has seen an element that was used again")
    if found == key then return at, link end
    link = at + element.next
  end
end)

local update = named("update", function(cpu, key)
  if not cpu:try_acquire(writers) then return end -- if this CPU waited, the holder's grace period would not end
  local old, link = lookup(cpu, key)
  local new = cpu:load(list.spare)
  for _, field in ipairs { element.key, element.check } do cpu:store(new + field, key) end
  cpu:store(new + element.next, cpu:load(old + element.next))
  cpu:store_release(link, new)
  cpu:fence()
  for other = 0, machine.cpus - 1 do
    local passed = state[other].passed
    if other ~= cpu.id then cpu:spin_until_acquire(passed, "~=", cpu:load(passed)) end
  end
  cpu:store(list.spare, old)
  cpu:release(writers)
  cpu:tally("updates")
end)
function run(cpu)
  for passed = 1, math.huge do
    local key = cpu:random(workload.elements)
    if cpu:random(100, 1) < workload.write_pct then update(cpu, key) else lookup(cpu, key) end
    cpu:tally()
    cpu:store_release(state[cpu.id].passed, passed) -- the CPU is outside the list: a quiescent state
    cpu:compute_about(workload.outside_cycles)
  end
end
