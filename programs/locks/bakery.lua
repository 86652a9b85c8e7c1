-- Lamport's bakery lock (1974): first come, first served for any number of CPUs, without an atomic operation. What it teaches:
-- doing without atomics is expensive. Each acquisition reads a line of every other CPU, and writes its own line twice.
title = "Lamport's bakery: any number of CPUs, no atomic operation"
traits = { fifo = true }

function setup(name)
  return place_per_cpu(structure { name = "bakery_entry", "choosing", "number" }, name)
end

function acquire(cpu, entries)
  local mine = entries[cpu.id]
  cpu:store(mine.choosing, 1)
  cpu:fence()
  local largest = 0
  for other = 0, machine.cpus - 1 do
    largest = math.max(largest, cpu:load(entries[other].number))
  end
  local number = largest + 1
  cpu:store(mine.number, number)
  cpu:store_release(mine.choosing, 0)
  cpu:fence()
  for other = 0, machine.cpus - 1 do
    if other ~= cpu.id then
      -- Of two CPUs with the same number, the one with the lower id goes first.
      local behind_me = other > cpu.id and ">=" or ">"
      cpu:spin_until_acquire(entries[other].choosing, "==", 0)
      cpu:spin_until_any { { entries[other].number, "==", 0 }, { entries[other].number, behind_me, number } }
    end
  end
  cpu:load_fence()
  return largest > 0
end

function release(cpu, entries)
  cpu:store_release(entries[cpu.id].number, 0)
end
