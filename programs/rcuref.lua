-- A reference count that is taken by one addition (Linux 6.4, lib/rcuref.c). When the object is gone, its count is so far below
-- zero that additions can't revive it. What it teaches: "take one unless it is gone" needs no retry loop.
title = "rcuref: an addition takes a reference, unless the object is gone"

local SIGN <const> = 1 << 31 -- this bit set: nobody holds the object, or something went wrong
local NOBODY <const> = 0xFFFFFFFF -- no references: the count is the number of references minus 1
local DEAD <const> = 0xE0000000

function setup()
  return counter_word(structure { name = "rcuref", "count:4" })
end

function get(cpu, counter)
  if (cpu:fetch_add(counter.count, 1) + 1) & SIGN == 0 then return true end -- also if the object was about to go
  cpu:store(counter.count, DEAD) -- far below zero again, however many CPUs try
  error("a reference is taken of an object that is gone")
end

function put(cpu, counter)
  if cpu:fetch_add(counter.count, -1) - 1 >= 0 then return false end
  return cpu:compare_exchange(counter.count, NOBODY, DEAD) == NOBODY
end
