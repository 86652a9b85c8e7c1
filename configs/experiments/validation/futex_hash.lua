-- "perf bench futex hash": the values of each thread's futexes have changed already, so a thread that wants to wait takes
-- the bucket's lock and gives it back. What it teaches: if a pointer that is only read lies beside a lock, there are two transfers instead
-- of one.
title = "Buckets of the futex hash: a pointer beside the lock is read first, or not at all"
parameters = {
  { name = "buckets", default = 256, min = 1, max = 65536, meaning = "of the hash" },
  { name = "futexes", default = 1024, min = 1, max = 65536, meaning = "of each thread" },
  { name = "pointer", default = "both", choices = { "both", "after", "apart", "none" },
    meaning = "read before and after the lock; only after; both, but on a line of its own; never" },
  { name = "wait_cycles", default = 1000, min = 0, max = 1e9, meaning = "of the system call beside the bucket" },
}

function setup()
  buckets = place(structure { name = "futex_hash_bucket", { "waiters", at = 0, bytes = 4 }, { "next", at = 4, bytes = 2 },
    { "serving", at = 6, bytes = 2 }, { "chain", at = workload.pointer == "apart" and 64 or 8 },
    { "priv", at = workload.pointer == "apart" and 80 or 24 },
    size = workload.pointer == "apart" and 128 or 64, align = 64 }, "futex_hash_bucket", { count = workload.buckets })
end

local wait = named("futex_wait_setup", function(cpu, bucket)
  if workload.pointer == "both" or workload.pointer == "apart" then cpu:load(bucket.priv) end
  cpu:execute(40)
  cpu:fetch_add(bucket.waiters, 1)
  local ticket = cpu:fetch_add(bucket.next, 1)
  cpu:spin_until_acquire(bucket.serving, "==", ticket)
  cpu:execute(60) -- reads the thread's own futex, and finds another value than it waits for
  cpu:store_release(bucket.serving, (ticket + 1) & 0xFFFF)
  cpu:fetch_add(bucket.waiters, -1)
  cpu:execute(20)
  if workload.pointer ~= "none" then cpu:load(bucket.priv) end
end)

function run(cpu)
  local mine = {} -- the buckets of this thread's futexes
  for i = 1, workload.futexes do mine[i] = cpu:random(workload.buckets, 1) end
  local i = 0
  while true do
    i = i % workload.futexes + 1
    cpu:compute_about(workload.wait_cycles)
    wait(cpu, buckets[mine[i]])
    cpu:tally()
  end
end
