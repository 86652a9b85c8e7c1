title = "Looks before it takes"

function setup()
  return lock_word(structure { name = "broken", "held:4" })
end

function acquire(cpu, lock)
  local before = cpu:load(lock.held)
  if before ~= 0 then cpu:spin_until(lock.held, "==", 0) end
  cpu:store(lock.held, 1)
  return before ~= 0
end

function release(cpu, lock)
  cpu:store_release(lock.held, 0)
end
