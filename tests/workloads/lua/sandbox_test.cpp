// A program is an untrusted file: it can reach only the simulated machine, it terminates, and any mistake is one message with
// file, line and CPU.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/workloads/lua/lua_support.hpp"
#include "workloads/lua/lua_error.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Mistake {
  const char* name;
  std::string text;
  const char* message;
};

std::string running(const std::string& line) {
  return "ends = true\nfunction setup() t = place(structure { name = \"t\", \"a\", \"b:4\" }, \"t\") end\nfunction run(cpu)\n" +
         line + "\nend";
}

const std::string kFarBorder =
    "local x, i = {}, 1 while i > 0 do x[i] = 1 i = i << 1 end while #x < 1 << 40 do x[#x + 1] = 1 end\n";
constexpr const char* kNeverEnds = "does a loop never end?";

class AMistake : public testing::TestWithParam<Mistake> {};

TEST_P(AMistake, IsOneMessageWithItsPlace) {
  const std::string error = error_of(GetParam().text);
  EXPECT_THAT(error, StartsWith("a.lua:")) << error;
  EXPECT_THAT(error, HasSubstr(GetParam().message));
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(
    Of, AMistake,
    testing::ValuesIn(std::vector<Mistake>{
        {"syntax", "function run(cpu) x = = 1 end", "a.lua:1: unexpected symbol near '='"},
        {"nothing_defined", "x = 1", "defines no program, lock or counter. A program defines run(cpu)"},
        {"nil_call", running("nothing()"), "a.lua:4: CPU 0: attempt to call a nil value (global 'nothing')"},
        {"nil_call_of_a_field", running("for i = 1, cpus() do end"), "(global 'cpus'); did you mean machine.cpus?"},
        {"misspelt_function", running("tostrin(1)"), "(global 'tostrin'); did you mean tostring?"},
        {"misspelt_method", running("cpu:comptue(10)"), "(method 'comptue'); did you mean cpu:compute?"},
        {"misspelt_field", running("local n = machine.cpu + 1"), "(field 'cpu'); did you mean cpus?"},
        {"nil_as_address", running("cpu:load(t.nobody)"), "a.lua:4: CPU 0: the word is nil"},
        {"address_0", running("cpu:load(0)"), "a.lua:4: CPU 0: address 0"},
        {"outside_all", running("cpu:store(t.address + 4096, 1)"), "is in no structure"},
        {"beyond_the_end", running("cpu:store(t.address + 16, 1)"), "is in no structure"},
        {"beyond_all_addresses", running("cpu:load(t.a + (1 << 60))"), "no object has an address of 0x10"},
        {"unaligned", running("cpu:load(t.address + 4)"), "multiples of the size"},
        {"text_as_value", running("cpu:store(t.a, 'x')"), "argument 2 must be a whole number, and is a string"},
        {"half_as_value", running("cpu:store(t.a, 1.5)"), "argument 2 must be a whole number, and is 1.5"},
        {"unknown_comparison", running("cpu:spin_until(t.a, '=>', 0)"), "legal comparisons"},
        {"no_colon", running("cpu.load(t.a)"), "with a colon"},
        {"no_colon_and_words_in_use", running("cpu:load(t.a) cpu.store(t.a, t.a)"), "with a colon"},
        {"table_as_text", running("string.format('%s', {})"), "has no text"},
        {"address_as_text", running("string.format('%-20p', 'x')"), "%p"},
        {"joined_table", running("local x = '' .. {}"), "attempt to concatenate"},
        {"keys_without_order", running("for k in pairs { [{}] = 1 } do end"), "one is a table"},
        {"own_error", running("error('lost an item')"), "a.lua:4: CPU 0: lost an item"},
        {"assertion", running("assert(cpu.id == 7, 'not seven')"), "not seven"},
        {"error_without_text", running("error({})"), "an error that is not text"},
        {"endless_loop", running("while true do end"), "does a loop never end?"},
        {"endless_loop_in_the_file", "while true do end", "does a loop never end?"},
        {"recursion", "local function f() return 1 + f() end\n" + running("f()"), "64 MiB"},
        {"recursion_through_cpp", "f = named('f', function() f() end)\n" + running("f()"), "too deeply"},
        {"memory", running("local s = {} while true do s[#s + 1] = cpu:load(t.a) .. ('x'):rep(1000000) end"), "64 MiB"},
        {"one_large_text", running("local s = ('x'):rep(1 << 28)"), "MiB"},
        {"deep_syntax", "x = " + std::string(300, '(') + "1" + std::string(300, ')') + running(""), "C stack overflow"},
        {"bytecode", std::string("\x1bLua"), "binary chunk"},
        {"field_twice", "function setup() structure { name = 's', 'a', 'a' } end function run() end",
         "field a is declared twice"},
        {"odd_size", "function setup() structure { name = 's', 'a:3' } end function run() end", "legal sizes"},
        {"unknown_option", "function setup() structure { name = 's', algin = 8 } end function run() end", "there is no algin"},
        {"size_that_is_no_number", "function setup() structure { name = 's', 'a:' } end function run() end", "legal sizes"},
        {"size_that_is_too_large", "function setup() structure { name = 's', 'a:99999999999' } end function run() end",
         "legal sizes"},
        {"bracket", "function setup() structure { name = 's', 'a[x]' } end function run() end", "has no bracket"},
        {"field_and_array", "function setup() structure { name = 's', 'a', { 'a', count = 8 } } end function run() end",
         "field a is declared twice"},
        {"array_and_field", "function setup() structure { name = 's', { 'a', count = 8 }, 'a' } end function run() end",
         "field a is declared twice"},
        {"unaligned_preset", "function setup() preset(place_array('b', 128) + 60, -1) end function run() end",
         "multiples of the size"},
        {"more_than_all_addresses",
         "function setup() for i = 1, 70000 do place_array('b' .. i, 1 << 40) end end function run() end",
         "b65536 does not fit: all objects together take at most 2^56 bytes"},
        {"array_with_count", "function setup() place_array('b', 64, { count = 8 }) end function run() end",
         "bytes have no count"},
        {"choice_that_is_no_text",
         "parameters = { { name = 'p', default = 'a', meaning = 'm', choices = { 'a', 2 } } } function run() end",
         "a list of strings"},
        {"long_move", running("table.move({}, 1, 1 << 60, 2)"), "table.move: more than"},
        {"far_border_insert", running(kFarBorder + "table.insert(x, 1, 1)"), "table.insert: more than"},
        {"far_border_remove", running(kFarBorder + "table.remove(x, 2)"), "table.remove: more than"},
        {"far_border_concat", running(kFarBorder + "table.concat(x)"), "table.concat: more than"},
        {"long_unpack", running("table.unpack({}, math.mininteger, math.maxinteger)"), "table.unpack: more than"},
        {"address_behind_a_zero_byte", running("string.format('\\0%p', 'x')"), "%p"},
        {"address_in_a_method", running("local s = ('a\\0 %s %8p'):format(1, 'x')"), "%p"},
        {"endless_copies", running("while true do local s = ('x'):rep(1 << 20) end"), kNeverEnds},
        {"endless_joins", running("local s = ('x'):rep(1 << 20) while true do local t = s .. 'x' end"), kNeverEnds},
        {"endless_comparisons", running("local a, b = ('x'):rep(1 << 20), ('x'):rep(1 << 20) while a == b do end"), kNeverEnds},
        {"endless_numbers", running("local a = (' '):rep(1 << 20) while not tonumber(a) do end"), kNeverEnds},
        {"endless_insertions",
         running("local x = {} for i = 1, 100000 do x[i] = i end while true do table.insert(x, 1, 0) table.remove(x, 1) end"),
         kNeverEnds},
        {"endless_moves",
         running("local x = {} for i = 1, 100000 do x[i] = i end while true do table.move(x, 1, #x, 2) x[#x] = nil end"),
         kNeverEnds},
        {"endless_arguments",
         running("local function f(...) while select('#', ...) > 0 do end end f(table.unpack({}, 1, 200000))"), kNeverEnds},
        {"endless_results", running("local s = ('x'):rep(100000) while true do s:byte(1, -1) end"), kNeverEnds},
        {"endless_walks",
         running("local x = {} for i = 1, 100000 do x[-i] = 1 end for i = 1, 100000 do x[-i] = nil end\n"
                 "while true do for k in pairs(x) do end end"),
         kNeverEnds},
        {"endless_draws", running("while true do cpu:random(2) end"), "in no simulated time"},
        {"endless_nothing", running("while true do cpu:compute(0) cpu:tally() end"), "in no simulated time"},
        {"negative_tally", running("cpu:tally(nil, -5)"), "-5 counted; legal: 0 to 1000000000000"},
        {"overflowing_tally", running("cpu:tally(nil, math.maxinteger)"), "legal: 0 to 1000000000000"},
        {"negative_compute", running("cpu:compute(-1)"), "-1 cycles; legal: 0 to 1000000000000"},
        {"name_that_is_no_text", "function setup() place_array('a\xff', 64) end function run() end",
         "\"a\\xff\" must be UTF-8"},
        {"field_that_is_no_text", "function setup() structure { name = 's', 'a\xc3' } end function run() end", "must be UTF-8"},
        {"lock_that_is_no_text", "function setup() lock('ticket', '\xf8') end function run() end", "must be UTF-8"},
        {"title_that_is_no_text", "title = '\xed\xa0\x80' function run() end", "must be UTF-8"},
        {"tally_that_is_no_text", "tallies = { '\x80' } function run() end", "must be UTF-8"},
        {"own_error_that_is_no_text", running("error('\xff')"), "CPU 0: \\xff"},
        {"placed_too_late", running("place(t, 'x')"), "in setup() alone"},
        {"unknown_lock", "function setup() lock('tickit', 'l') end function run() end", "ticket"},
        {"lock_as_barrier", "function setup() b = barrier('b') end function run(cpu) cpu:acquire(b) end", "must be a lock"},
        {"sleep_without_trait",
         "function setup() l = lock({ acquire = function(cpu) cpu:sleep() return true end, release = function() end }, 'l') "
         "end "
         "function run(cpu) cpu:acquire(l) end",
         "traits = { sleeps = true }"},
        {"wake_of_nobody", running("cpu:wake(2)"), "wake: there is no CPU 2; legal: 0 to 1"},
        {"placing_without_end", "function setup() while true do place_array('b', 1) end end function run() end",
         "a.lua:1: setup() places more than"},
        {"locks_without_end", "function setup() while true do lock('ticket', 'l') end end function run() end", "65536 locks"},
        {"functions_without_end", "while true do named('f', function() end) end function run() end", "65536 functions"},
        {"long_name", "function setup() while true do barrier(('x'):rep(1 << 20)) end end function run() end",
         "a string of 1048576 bytes"},
        {"long_meanings",
         "local p, m = {}, ('x'):rep(1 << 20) for i = 1, 300 do p[i] = { name = 'p', default = 1, meaning = m } end\n"
         "parameters = p function run() end",
         "a string of 1048576 bytes"},
        {"long_field",
         "function setup() structure { name = 's', { ('x'):rep(1 << 20), count = 65536 } } end function run() end",
         "a string of 1048576 bytes"},
        {"many_fields",
         "function setup() local t = { name = 's' } for i = 1, 200000 do t[i] = 'f' .. i end structure(t) end function run() "
         "end",
         "131072 fields"},
        {"many_parameters",
         "parameters = {} for i = 1, 5000 do parameters[i] = { name = 'p', default = 1, meaning = 'm' } end function run() end",
         "parameters: more than 1000"},
        {"many_choices",
         "local c = {} for i = 1, 5000 do c[i] = 'c' .. i end\n"
         "parameters = { { name = 'p', default = 'a', meaning = 'm', choices = c } } function run() end",
         "more than 100 choices"},
        {"long_global", "_ENV[('x'):rep(20000000)] = 1 function run(cpu) cpu:load(0) end", "address 0"},
        {"colliding_keys",
         running("local x, step = {}, (1 << 16) - 1 for i = 1, 40000 do x[i * step] = 1 end\n"
                 "for i = 50001, 2000000 do x[i * step] = x[i * step] end"),
         kNeverEnds},
        {"colliding_fractions",
         running("local x, step = {}, 2.0 ^ 29 + 0.5 for i = 1, 40000 do x[i * step] = 1 end\n"
                 "step = (1 << 15) - 0.5 for i = 1, 40000 do x[i * step] = 1 end"),
         kNeverEnds},
        {"keys_that_collide_once_their_table_grows",
         running("local x, step = {}, (1 << 19) - 1 for i = 1, (1 << 18) + 2 do x[i * step] = 1 end"), kNeverEnds},
        {"comparisons_of_texts_of_2_kb",
         running("local a, b = ('x'):rep(2000), ('y'):rep(2000) for i = 1, 1000000 do local less = a < b end"), kNeverEnds},
        {"far_text_as_number", running("local s = (' '):rep(30000000) for i = 1, 9 do tonumber(s) end"),
         "tonumber: more than 10000000 elements"},
        {"long_digits", running("for i = 1, 1 << 20 do string.format('%99.99f', 1e308) end"), kNeverEnds},
        {"many_series", running("for i = 1, 5000 do cpu:sample('x' .. i, i) end"), "more than 1000 series"},
        {"misspelt_trait", "trait = { fifo = true } function run() end", "did you mean traits?"},
        {"unknown_tally", running("cpu:tally('x')"), "not in the list"},
        {"spin_on_function", running("cpu:spin_until(t.a, function() end)"), "legal comparisons"},
    }),
    [](const auto& mistake) { return mistake.param.name; });

TEST(Sandbox, HasNoWayOut) {
  const std::string names =
      "'io', 'os', 'debug', 'package', 'require', 'load', 'loadstring', 'loadfile', 'dofile', 'print', 'collectgarbage', "
      "'coroutine', 'pcall', 'xpcall', 'setmetatable', 'getmetatable', 'rawget', 'next', 'utf8', '_G'";
  EXPECT_EQ(error_of(running("for _, name in ipairs { " + names +
                             " } do assert(_ENV[name] == nil, name) end\n"
                             "assert(not math.random and not math.sin and not table.sort and not string.dump)\n"
                             "assert(not (\"\").dump and not (\"\").gsub)")),
            "");
}

// These functions loop in C, where instructions are not counted.
TEST(Sandbox, NothingIsRepeatedAtOnce) {
  EXPECT_EQ(error_of(running("assert(string.rep('', 1 << 62) == '' and ('ab'):rep(2, '-') == 'ab-ab')\n"
                             "assert(#table.move({ 1, 2 }, 1, 2, 3) == 4)")),
            "");
}

// A program may execute 10 million instructions at once, and nearly executes them here: keys that are spread over a table's
// places make none of them dearer.
TEST(Sandbox, LargeTablesCostNoMoreThanSmallOnes) {
  for (const char* const key : {"i * 7919 % 1000003", "i << 20", "i * 4096 + 1", "i * 7919.5", "'k' .. i"})
    EXPECT_EQ(error_of(running(fmt::format("local x = {{}} for i = 1, 50000 do x[{0}] = i end\n"
                                           "for turn = 1, 15 do for i = 1, 50000 do assert(x[{0}] == i) end end",
                                           key)),
                       small_machine(1)),
              "")
        << key;
}

// Everything that a program can turn into text is the same in every run.
TEST(Sandbox, ShowsNoAddresses) {
  EXPECT_EQ(error_of(running("assert(tostring({}) == 'table' and tostring(cpu.load) == 'function')\n"
                             "assert(string.format('%5.1f%% %s', 2.25, true) == '  2.2% true')")),
            "");
}

TEST(Sandbox, PairsGoesByNumbersThenTextsThenBooleans) {
  EXPECT_EQ(error_of(running("local seen = {}\n"
                             "for k in pairs { z = 1, b = 1, [30] = 1, [2] = 1, [0.5] = 1, [true] = 1, [-4] = 1 } do\n"
                             "  seen[#seen + 1] = tostring(k)\nend\n"
                             "local all = table.concat(seen, ' ')\nassert(all == '-4 2 30 0.5 b z true', all)")),
            "");
}

TEST(Sandbox, PairsToleratesThatEntriesAreRemoved) {
  EXPECT_EQ(error_of(running("local t, n = { 1, 2, 3 }, 0\nfor k in pairs(t) do t[k + 1] = nil n = n + 1 end assert(n == 2)")),
            "");
}

// Each CPU's program has its own globals: they share only simulated memory.
TEST(Sandbox, CpusShareNoVariables) {
  EXPECT_EQ(error_of("ends = true\nshared = {}\nfunction run(cpu)\n"
                     "  assert(next_cpu == nil and #shared == 0)\n  next_cpu = 1\n  shared[1] = 1\nend"),
            "");
}

// The generator's numbers for CPU 0 with seed 1.
TEST(Sandbox, EachSeriesOfRandomNumbersFollowsFromSeedAndCpu) {
  Random first(1, 0, 0), third(1, 0, 3);
  const auto expected = static_cast<std::int64_t>(first.below(1000));
  const auto other = static_cast<std::int64_t>(third.below(1000));
  LuaRun run(running("cpu:tally(nil, cpu:random(1000) + cpu:random(1000, 3) * 1000)"), small_machine(1));
  EXPECT_EQ(run.tallied(), expected + other * 1000);
}

TEST(Sandbox, AFailureOfTheModelPassesThroughAProgram) {
  EXPECT_THAT(error_of("function setup() l = lock('ticket', 'l') end\nfunction run(cpu) cpu:acquire(l) cpu:acquire(l) end"),
              HasSubstr("CPU"));
}

// cpu.load(a, b) would load b, and at run time can't be told from cpu:load(b).
class ADotForAColon : public testing::TestWithParam<const char*> {};

TEST_P(ADotForAColon, IsRefusedWithItsLine) {
  const std::string text = running(std::string("local s = '\\'' --[[\n]]\n") + GetParam());
  try {
    declaration_of({"dir/a.lua", text});
    FAIL() << "not refused";
  } catch (const LuaError& error) {
    EXPECT_THAT(error.what(), StartsWith("a.lua:6: cpu."));
    EXPECT_THAT(error.what(), HasSubstr("with a colon"));
  }
}

INSTANTIATE_TEST_SUITE_P(Calls, ADotForAColon,
                         testing::Values("cpu.load(t.a, t.b)", "x = 1 + cpu . load_acquire(t.a, t.b)", "cpu.fence()",
                                         "f(cpu.load(t.a))"));

TEST(ADot, IsRightWhereTheCpuIsTheFirstArgumentOrNothingIsCalled) {
  const std::string text = running(
      "local load = cpu.load load(cpu, t.a) cpu.load(cpu, t.a) x.cpu.load(1, 2) print(cpu.id)\n"
      "-- cpu.load(t.a)\n--[==[ cpu.load(t.a) ]] ]==] local s = 'cpu.load(t.a)' .. [[cpu.load(t.a)]]");
  EXPECT_TRUE(declaration_of({"a.lua", text}).program);
}

}  // namespace
}  // namespace linebounce::test
