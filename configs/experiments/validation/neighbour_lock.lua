-- UDP frames to many destinations over one next hop without the route cache, Linux 2.6.36. Each frame makes a route entry
-- that is used once. To give the entry the neighbour's prepared header, the frame takes the neighbour's lock for writing, and
-- counts a reference to that header. With the change, the frame writes the header itself, under the lock for reading.
title = "A header prepared for entries that are used once: a writer's lock and a count, or a reader's lock"
parameters = {
  { name = "prepared", default = true, meaning = "each entry gets the prepared header" },
  { name = "frame_cycles", default = 5125, min = 0, max = 1e9, meaning = "of a frame beside what is shared" },
}

local BIAS <const> = 0x1000000 -- value of a lock that no CPU has

function setup()
  device = place(structure { name = "net_device", "refcnt:4", align = 64 }, "net_device")
  ipv4 = place(structure { name = "in_device", "refcnt:4", align = 64 }, "in_device")
  ops = place(structure { name = "dst_ops", { "gc_thresh", at = 4, bytes = 4 }, { "kmem_cachep", at = 48 },
    { "entries", at = 56, bytes = 4 }, align = 64 }, "dst_ops")
  neighbour = place(structure { name = "neighbour", { "dev", at = 0 }, { "nud_state", at = 8, bytes = 1 }, { "output", at = 16 },
    { "hh", at = 24 }, { "refcnt", at = 32, bytes = 4 }, { "primary_key", at = 40 }, { "lock", at = 48 }, { "ha", at = 56 },
    align = 64 }, "neighbour")
  header = place(structure { name = "hh_cache", { "next", at = 0 }, { "refcnt", at = 8, bytes = 4 }, { "type", at = 64, bytes = 2 },
    { "data", at = 72 }, size = 128, align = 64 }, "hh_cache")
  preset(neighbour.lock, BIAS)
end

local function take(cpu, share)
  while cpu:fetch_add(neighbour.lock, -share) < share do
    cpu:fetch_add(neighbour.lock, share)
    cpu:spin_until(neighbour.lock, ">=", share)
  end
end

local resolve = named("neigh_resolve_output", function(cpu)
  cpu:load(neighbour.nud_state)
  if workload.prepared then
    take(cpu, BIAS)
    cpu:load(neighbour.hh)
    cpu:load(header.type)
    cpu:fetch_add(header.refcnt, 1)
  else
    take(cpu, 1)
  end
  cpu:load(neighbour.ha)
  cpu:execute(60) -- eth_header()
  cpu:fetch_add(neighbour.lock, workload.prepared and BIAS or 1)
end)

local make = named("rt_set_nexthop", function(cpu)
  cpu:load(ops.gc_thresh)
  cpu:load(ops.kmem_cachep)
  cpu:fetch_add(ops.entries, 1)
  cpu:fetch_add(device.refcnt, 1)
  cpu:fetch_add(ipv4.refcnt, 1)
  cpu:load(neighbour.dev)
  cpu:load(neighbour.primary_key)
  cpu:fetch_add(neighbour.refcnt, 1)
end)

local destroy = named("dst_destroy", function(cpu)
  if workload.prepared then cpu:fetch_add(header.refcnt, -1) end
  cpu:fetch_add(neighbour.refcnt, -1)
  cpu:fetch_add(ipv4.refcnt, -1)
  cpu:fetch_add(device.refcnt, -1)
  cpu:fetch_add(ops.entries, -1)
end)

function run(cpu)
  local part = workload.frame_cycles // 3
  while true do
    cpu:compute_about(part)
    make(cpu)
    cpu:compute_about(part)
    resolve(cpu)
    cpu:compute_about(part)
    destroy(cpu)
    cpu:tally()
  end
end
