-- A proxy's stick table, in which all requests count their client. A request that has changed an entry checks whether a peer
-- must be told. Before the change it takes the table's lock for reading to check that. After the change it checks first, and
-- takes the lock only if a peer has seen the entry. What it teaches: a lock for reading costs everybody two writes of one
-- line.
title = "A table's entry: looked at under the lock for reading, or without"
parameters = {
  { name = "locked", default = true, meaning = "the lock is taken for reading to look at the entry" },
  { name = "touches", default = 2, min = 1, max = 100, meaning = "changes of an entry in a request" },
  { name = "entries", default = 64, min = 1, max = 4096, meaning = "that requests go to" },
  { name = "request_cycles", default = 68300, min = 1, max = 1e9, meaning = "of a request beside the table" },
}

function setup()
  stick = place(structure { name = "stktable", { "expire", at = 0 }, { "sync_task", at = 8 }, { "lock", at = 64 }, size = 128,
    align = 64 }, "stktable")
  entries = place(structure { name = "stksess", { "expire", at = 0, bytes = 4 }, { "ref_cnt", at = 4, bytes = 4 },
    { "seen", at = 8, bytes = 4 }, { "requests", at = 16 }, align = 64 }, "stksess", { count = workload.entries })
end

local touch = named("stktable_touch_with_exp", function(cpu, entry)
  cpu:load(stick.expire)
  if workload.locked then cpu:fetch_add(stick.lock, 1) end
  cpu:load(entry.seen)
  if workload.locked then cpu:fetch_add(stick.lock, -1) end
end)

function run(cpu)
  cpu:compute_about(workload.request_cycles)
  while true do
    local entry = entries[cpu:random(workload.entries)]
    for _ = 1, workload.touches do
      cpu:compute_about(workload.request_cycles // workload.touches)
      cpu:fetch_add(entry.requests, 1)
      touch(cpu, entry)
    end
    cpu:tally()
  end
end
