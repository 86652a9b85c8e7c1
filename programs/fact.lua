-- The simulator's side of the facts in probe/facts. What it teaches: a list of operations, repeated, shows what each costs.
title = "Each CPU repeats a list of operations: a fact of probe/facts"
parameters = {
  { name = "first", default = "add word", meaning = "operations of CPU 0, separated by semicolons; only it is counted" },
  { name = "others", default = "add word", meaning = "operations of the other CPUs" },
}

-- Every operation, by its name. `word` is its operand's address.
local does = {
  add = function(cpu, word) cpu:fetch_add(word, 1) end,
  exchange = function(cpu, word) cpu:exchange(word, 1) end,
  fail = function(cpu, word) cpu:compare_exchange(word, 1 << 40, 1) end, -- no word ever has that value
  succeed = function(cpu, word) cpu:compare_exchange(word, 0, 0) end,
  load = function(cpu, word) cpu:load(word) end,
  store = function(cpu, word) cpu:store(word, 1) end,
  increment = function(cpu, word)
    local expected, found = nil, cpu:load(word)
    while found ~= expected do
      expected = found
      found = cpu:compare_exchange(word, expected, expected + 1)
    end
  end,
  pass = function(cpu, word)
    local turn = cpu:load(word)
    while turn % machine.cpus ~= cpu.id do turn = cpu:spin_until(word, "~=", turn) end
    cpu:store(word, turn + 1)
  end,
  compute = function(cpu, cycles) cpu:compute(cycles) end,
}

function setup()
  line = place(structure { name = "shared", "word", { "mine", bytes = 8, count = 7 }, align = "line" }, "shared")
  apart = place(structure { name = "own", "word", align = 256 }, "apart", { count = machine.cpus })
end

local function steps_of(cpu, text)
  local operands = { word = line.word, mine = line.mine[cpu.id % 7], apart = apart[cpu.id].word }
  local steps, words = {}, { "" }
  for i = 1, string.len(text) + 1 do
    local letter = string.sub(text .. ";", i, i)
    if letter == ";" then
      local act = assert(does[words[1]], "no such operation: " .. words[1])
      table.insert(steps, { act = act, on = assert(operands[words[2]] or tonumber(words[2]), "word, mine, apart or cycles") })
      words = { "" }
    elseif letter == " " then
      if words[#words] ~= "" then table.insert(words, "") end
    else
      words[#words] = words[#words] .. letter
    end
  end
  return steps
end

function run(cpu)
  local steps = steps_of(cpu, cpu.id == 0 and workload.first or workload.others)
  while true do
    for _, step in ipairs(steps) do step.act(cpu, step.on) end
    if cpu.id == 0 then cpu:tally() end
  end
end
