-- All CPUs take and drop references to one object, a lockref, as a call for one file does. What it teaches: what a count in the
-- same word as its lock gains over a count under the lock.
title = "A lockref changed under its lock, or by compare-and-exchange with or without a limit of failures"
parameters = {
  { name = "variant", default = "limited", choices = { "locked", "limited", "unlimited", "given" },
    meaning = "how the count changes; given: references are held as a reader holds `lock`" },
  { name = "lock", default = "rwlock", lock = true, meaning = "for the variant `given`" },
  { name = "pause_cycles", default = 0, min = 0, max = 1e6, meaning = "of cpu_relax(), after a failure" },
  { name = "call_cycles", default = 2000, min = 0, max = 1e9, meaning = "of the system call beside the lockref" },
}

local FAILURES <const> = 100

function setup()
  if workload.variant == "given" then
    given = lock(workload.lock, "given")
    return
  end
  ref = place(structure { name = "lockref", { "lock_count", at = 0, bytes = 8 }, { "lock", at = 0, bytes = 4 },
    { "count", at = 4, bytes = 4 }, align = "line" }, "lockref")
  preset(ref.count, 1)
end

local function change(cpu, by)
  if workload.variant ~= "locked" then
    local failures, word = 0, cpu:load(ref.lock_count)
    while word & 0xffffffff == 0 and (workload.variant == "unlimited" or failures < FAILURES) do
      local seen = cpu:compare_exchange(ref.lock_count, word, word + (by << 32))
      if seen == word then return end
      word, failures = seen, failures + 1
      if workload.pause_cycles > 0 then cpu:compute(workload.pause_cycles) end
    end
  end
  while cpu:exchange(ref.lock, 1) ~= 0 do cpu:spin_until(ref.lock, "==", 0) end
  cpu:store(ref.count, cpu:load(ref.count) + by)
  cpu:store_release(ref.lock, 0)
end

local get = named("lockref_get", function(cpu) if given then cpu:acquire_shared(given) else change(cpu, 1) end end)
local put = named("lockref_put_return", function(cpu) if given then cpu:release_shared(given) else change(cpu, -1) end end)

function run(cpu)
  local half = workload.call_cycles // 2
  while true do
    cpu:compute_about(half)
    get(cpu)
    cpu:compute_about(half)
    put(cpu)
    cpu:tally()
  end
end
