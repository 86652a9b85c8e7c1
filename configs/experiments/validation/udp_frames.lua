-- UDP frames to many destinations without the route cache, Linux 2.6.37: each frame makes a route entry and destroys it, and with it
-- takes and drops references of the device, of its IPv4 part and of the next hop, and counts the entry. Three of these counts move.
title = "Frames that all go through one device and one neighbour, and their counts"
parameters = {
  { name = "device", default = "atomic", choices = { "atomic", "per_cpu" }, meaning = "the device's reference count" },
  { name = "entries", default = "atomic", choices = { "atomic", "batched" }, meaning = "the count of route entries" },
  { name = "neighbour_apart", default = false, meaning = "the neighbour's reference count is off what is read" },
  { name = "frame_cycles", default = 8000, min = 0, max = 1e9, meaning = "of a frame beside these counts" },
}

local BATCH <const> = 32 -- percpu_counter_batch

function setup()
  device = place(structure { name = "net_device", "refcnt:4", align = 64 }, "net_device")
  per_cpu = place_per_cpu(structure { name = "net_device_refcnt", "count:4" }, "net_device_refcnt")
  ipv4 = place(structure { name = "in_device", { "dev", at = 0 }, { "refcnt", at = 8, bytes = 4 }, { "dead", at = 12, bytes = 4 },
    align = 64 }, "in_device")
  -- struct dst_ops: every frame reads the fields beside the count. The change moves the count to a line of its own.
  ops = place(structure { name = "dst_ops", { "gc_thresh", at = 4, bytes = 4 }, { "destroy", at = 24 },
    { "entries", at = workload.entries == "atomic" and 56 or 64, bytes = 4 }, { "kmem_cachep", at = 48 }, size = 128, align = 64 },
    "dst_ops")
  neighbour = place(structure { name = "neighbour", { "dev", at = 0 }, { "nud_state", at = 8, bytes = 1 }, { "output", at = 16 },
    { "hh", at = 24 }, { "refcnt", at = workload.neighbour_apart and 64 or 32, bytes = 4 }, { "primary_key", at = 40 }, size = 128,
    align = 64 }, "neighbour")
end

local function hold(cpu, by)
  if workload.device == "atomic" then
    cpu:fetch_add(device.refcnt, by)
  else
    local mine = per_cpu[cpu.id].count
    cpu:store(mine, cpu:load(mine) + by)
  end
end
local count = named("dst_entries_add", function(cpu, counted, by)
  if workload.entries == "atomic" then
    cpu:fetch_add(ops.entries, by)
    return counted
  end
  counted = counted + by
  if counted >= BATCH or counted <= -BATCH then -- under its spinlock, as one atomic addition of many
    cpu:fetch_add(ops.entries, counted)
    return 0
  end
  return counted
end)
local find = named("neigh_lookup", function(cpu)
  cpu:load(neighbour.dev)
  cpu:load(neighbour.primary_key)
  cpu:fetch_add(neighbour.refcnt, 1)
end)
local output = named("neigh_output", function(cpu)
  cpu:load(neighbour.nud_state)
  cpu:load(neighbour.hh)
end)

function run(cpu)
  local part, counted = workload.frame_cycles // 4, 0
  while true do
    cpu:compute_about(part)
    cpu:load(ops.gc_thresh)
    cpu:load(ops.entries)
    cpu:load(ops.kmem_cachep)
    counted = count(cpu, counted, 1)
    hold(cpu, 1)
    cpu:load(ipv4.dead)
    cpu:fetch_add(ipv4.refcnt, 1)
    find(cpu)
    cpu:compute_about(part)
    output(cpu)
    cpu:compute_about(part)
    cpu:load(ops.destroy)
    cpu:fetch_add(neighbour.refcnt, -1)
    cpu:fetch_add(ipv4.refcnt, -1)
    hold(cpu, -1)
    counted = count(cpu, counted, -1)
    cpu:load(ops.kmem_cachep)
    cpu:compute_about(part)
    cpu:tally()
  end
end
