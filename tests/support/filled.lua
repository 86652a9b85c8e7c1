-- A counter that every CPU adds to and CPU 0 empties at random times; how full it was, and how much CPU 0 found in it.
title = "A counter that is filled and emptied"

function setup()
  t = place(structure { name = "t", "filled" }, "t")
end

function run(cpu)
  while true do
    cpu:compute_about(300)
    cpu:sample("filled", cpu:fetch_add(t.filled, 1) + 1)
    if cpu.id == 0 and cpu:random(20) == 0 then cpu:sample("emptied", cpu:exchange(t.filled, 0)) end
    cpu:tally()
  end
end
