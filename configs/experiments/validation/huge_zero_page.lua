-- Processes that only read untouched memory, Linux 4.8: each huge page maps the one huge zero page, and takes a reference to
-- it. What it teaches: what one count costs that every CPU increments by compare-and-exchange.
title = "The huge zero page: a reference at each fault, or one for a process"
parameters = {
  { name = "counted", default = "faults", choices = { "faults", "processes" }, meaning = "what holds a reference" },
  { name = "fault_cycles", default = 10000, min = 0, max = 1e9, meaning = "of a fault beside the reference" },
}

function setup()
  page = place(structure { name = "huge_zero_page", { "refcount", at = 0, bytes = 4 }, { "page", at = 64 }, align = 64 }, "huge_zero_page")
  preset(page.refcount, 2)
end

local get = named("get_huge_zero_page", function(cpu)
  local count = cpu:load(page.refcount)
  while true do
    local seen = cpu:compare_exchange(page.refcount, count, count + 1)
    if seen == count then return end
    count = seen
  end
end)

function run(cpu)
  if workload.counted == "processes" then get(cpu) end
  while true do
    cpu:compute_about(workload.fault_cycles)
    if workload.counted == "faults" then get(cpu) end
    cpu:load(page.page) -- read-mostly, elsewhere
    cpu:tally()
  end
end
