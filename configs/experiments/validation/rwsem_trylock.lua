-- down_read_trylock() and up_read() by all CPUs, Linux 5.0. What it teaches: a load before a compare-and-exchange fetches the line
-- twice, first to read it and then to write it.
title = "down_read_trylock(): the count is loaded first, or expected to be 0"
parameters = {
  { name = "variant", default = "expects_0", choices = { "loads_first", "expects_0", "given" },
    meaning = "how the first compare-and-exchange knows the count; given: `lock` is used" },
  { name = "lock", default = "rwlock", lock = true, meaning = "for the variant `given`" },
  { name = "inside_cycles", default = 140, min = 0, max = 1e9, meaning = "computed by a reader" },
  { name = "outside_cycles", default = 10, min = 0, max = 1e9, meaning = "computed between two sections" },
}

function setup()
  if workload.variant == "given" then
    given = lock(workload.lock, "given")
    return
  end
  sem = place(structure { name = "rw_semaphore", "count", { "owner", at = 32 }, size = 64, align = 64 }, "rw_semaphore")
end

local try = named("down_read_trylock", function(cpu)
  local count = workload.variant == "loads_first" and cpu:load(sem.count) or 0
  while count >= 0 do
    local seen = cpu:compare_exchange(sem.count, count, count + 1)
    if seen == count then
      cpu:store(sem.owner, cpu.id)
      return
    end
    count = seen
  end
end)

local function up_read(cpu) cpu:fetch_add(sem.count, -1) end
local function try_given(cpu) cpu:acquire_shared(given) end
local function release_given(cpu) cpu:release_shared(given) end

function run(cpu)
  local down, up = given and try_given or try, given and release_given or up_read
  while true do
    down(cpu)
    cpu:compute_about(workload.inside_cycles)
    up(cpu)
    cpu:tally()
    cpu:compute_about(workload.outside_cycles)
  end
end
