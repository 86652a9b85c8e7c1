-- Every CPU looks a pointer up under a lock, and nobody changes it, as in libc++'s time zone database (llvm-project, pull request
-- 87929). What it teaches: a shared lock pays only for sections that are longer than it takes to come and go. libc++'s
-- std::shared_mutex locks a mutex to count a reader in, and again to count it out; glibc's pthread_rwlock takes an atomic
-- operation each way, as many as a mutex.
title = "Look a pointer up under a mutex, glibc's read-write lock or libc++'s shared mutex"
parameters = {
  { name = "guard", default = "mutex", choices = { "mutex", "rwlock", "libcxx_shared_mutex" }, meaning = "what guards it" },
}
tallies = { "look_ups" }

-- libc++ 14's shared mutex has 168 bytes: a mutex of 40, two conditions of 48, and the count.
function setup()
  pointer = place(structure { name = "database", "first", align = "line" }, "database")
  count = place(structure { name = "shared_mutex", { "count", at = 8, bytes = 4 }, align = "line" }, "shared_mutex")
  guard = lock(workload.guard == "rwlock" and "glibc_rwlock" or "glibc_mutex", "guard")
end

local function changed(cpu, by)
  cpu:acquire(guard)
  cpu:store(count.count, cpu:load(count.count) + by)
  cpu:release(guard)
end

local guarded = {
  mutex = function(cpu)
    cpu:acquire(guard)
    cpu:load(pointer.first)
    cpu:release(guard)
  end,
  rwlock = function(cpu)
    cpu:acquire_shared(guard)
    cpu:load(pointer.first)
    cpu:release_shared(guard)
  end,
  libcxx_shared_mutex = function(cpu)
    changed(cpu, 1)
    cpu:load(pointer.first)
    changed(cpu, -1)
  end,
}

local look_up = named("look_up", function(cpu) guarded[workload.guard](cpu) end, "user")

function run(cpu)
  while true do
    look_up(cpu)
    cpu:tally()
    cpu:compute(3) -- the loop's own
  end
end
