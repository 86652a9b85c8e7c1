-- SYN packets for one port, Linux 4.4: each CPU walks the chain of all listening sockets, and takes a reference to its own
-- one. What it teaches: sixteen CPUs read each socket's line, and lose it whenever one of them writes its own socket's count.
title = "Listening sockets on one hash chain, their reference counts on a line of the lookup or off it"
parameters = {
  { name = "refcnt_at", default = 120, min = 112, max = 192, meaning = "offset of sk_refcnt" },
  { name = "packet_cycles", default = 6000, min = 0, max = 1e9, meaning = "of a packet beside the lookup" },
}

function setup()
  local sock = structure { name = "sock", { "addrpair", at = 0 }, { "portpair", at = 12, bytes = 4 },
    { "family", at = 16, bytes = 2 }, { "state", at = 18, bytes = 1 }, { "bound_dev_if", at = 20, bytes = 4 }, { "net", at = 48 },
    { "next", at = 96 }, { "incoming_cpu", at = 112, bytes = 4 }, { "refcnt", at = workload.refcnt_at, bytes = 4 },
    { "private", at = 256 }, size = 1024, align = 64 }
  head = place(structure { name = "listening_hash", "first", align = 64 }, "listening_hash")
  sockets = place(sock, "listener", { count = machine.cpus })
  for i = 0, machine.cpus - 1 do preset(sockets[i].incoming_cpu, i) end
end

local lookup = named("inet_lookup_listener", function(cpu)
  local found
  cpu:load(head.first)
  for i = 0, machine.cpus - 1 do -- compute_score() of each socket: with SO_REUSEPORT, the walk goes to the chain's end
    local one = sockets[i]
    cpu:load(one.net)
    cpu:load(one.portpair)
    cpu:load(one.family)
    cpu:load(one.addrpair)
    cpu:load(one.bound_dev_if)
    if cpu:load(one.incoming_cpu) == cpu.id then found = one end
    cpu:execute(20)
    cpu:load(one.next)
  end
  local count = cpu:load(found.refcnt) -- atomic_inc_not_zero()
  while true do
    local seen = cpu:compare_exchange(found.refcnt, count, count + 1)
    if seen == count then return found end
    count = seen
  end
end)
local process = named("tcp_v4_rcv", function(cpu, socket)
  cpu:compute_about(workload.packet_cycles)
  cpu:store(socket.private, cpu:load(socket.private) + 1)
end)

function run(cpu)
  while true do
    local socket = lookup(cpu)
    process(cpu, socket)
    cpu:fetch_add(socket.refcnt, -1)
    cpu:tally()
  end
end
