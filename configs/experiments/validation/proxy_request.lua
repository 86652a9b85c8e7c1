-- A reverse proxy's requests: one backend and one server whose counts of connections all threads change twice a request (haproxy
-- 3.x, struct proxy and struct server). What is only read may lie beside such a count, or on a line of its own.
title = "Requests through one backend: fields that are read beside its count of connections, or apart"
parameters = {
  { name = "queues_apart", default = false, meaning = "the lengths of the queues, which stay 0, have a line of their own" },
  { name = "name_apart", default = true, meaning = "the header's name, configuration, is off the lines that are written" },
  { name = "headers", default = 10, min = 0, max = 100, meaning = "of a response; for each the header's name is looked at" },
  { name = "request_cycles", default = 80000, min = 0, max = 1e9, meaning = "of a request beside these fields" },
}

function setup()
  backend = place(structure { name = "proxy", { "beconn", at = 64, bytes = 4 }, { "feconn", at = 68, bytes = 4 },
    { "queueslength", at = workload.queues_apart and 128 or 72, bytes = 4 },
    { "totpend", at = workload.queues_apart and 132 or 76, bytes = 4 },
    { "server_id_hdr_name", at = workload.name_apart and 192 or 80 }, size = 256, align = 64 }, "proxy")
  server = place(structure { name = "server", { "queueslength", at = 0, bytes = 4 }, { "served", at = 64, bytes = 4 }, size = 128,
    align = 64 }, "server")
end

local may_dequeue = named("may_dequeue_tasks", function(cpu)
  cpu:load(server.queueslength)
  cpu:load(backend.queueslength)
  cpu:load(backend.totpend)
end)
local forward = named("h1_snd_buf", function(cpu, cycles)
  for _ = 1, workload.headers do
    cpu:load(backend.server_id_hdr_name)
    cpu:compute_about(cycles)
  end
end)

function run(cpu)
  local part = workload.request_cycles // 4
  local header = workload.headers > 0 and part // 8 // workload.headers or 0
  while true do
    cpu:compute_about(part)
    cpu:fetch_add(backend.beconn, 1)
    cpu:compute_about(part)
    may_dequeue(cpu) -- sess_change_server()
    cpu:fetch_add(server.served, 1)
    cpu:compute_about(part - part // 8)
    forward(cpu, header)
    may_dequeue(cpu)
    cpu:fetch_add(server.served, -1)
    cpu:compute_about(part)
    cpu:fetch_add(backend.beconn, -1)
    cpu:tally()
  end
end
