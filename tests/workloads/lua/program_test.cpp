// A program in Lua does the same as the same calls of Cpu.
#include <gmock/gmock.h>

#include "tests/workloads/lua/lua_support.hpp"

namespace linebounce::test {
namespace {

const std::string kOneWord = "ends = true\nfunction setup() t = place(structure { name = 't', 'a', 'b:4', 'c:1' }, 't') end\n";

// The tally of a program on one CPU.
std::int64_t counted(const std::string& lines) {
  return LuaRun(kOneWord + "function run(cpu)\n" + lines + "\nend", small_machine(1)).tallied();
}

TEST(LuaProgram, WordsHaveTheSizeOfTheirField) {
  EXPECT_EQ(counted("cpu:store(t.b, -1) cpu:store(t.c, 513) cpu:tally(nil, cpu:load(t.b) + cpu:load(t.c))"), 0x100000000);
}

TEST(LuaProgram, WordsOfEightBytesHaveASign) {
  EXPECT_EQ(counted("cpu:store(t.a, -5) cpu:tally(nil, -cpu:load(t.a))"), 5);
}

TEST(LuaProgram, AtomicOperationsReturnWhatWasThere) {
  EXPECT_EQ(counted("assert(cpu:fetch_add(t.b, 7) == 0 and cpu:fetch_add(t.b, -1) == 7 and cpu:exchange(t.b, 2) == 6)\n"
                    "assert(cpu:compare_exchange(t.b, 1, 9) == 2 and cpu:compare_exchange(t.b, 2, 5) == 2)\n"
                    "cpu:tally(nil, cpu:load(t.b))"),
            5);
}

TEST(LuaProgram, LoadsThatAreUnderWayTogetherReturnAValueEach) {
  EXPECT_EQ(counted("cpu:store(t.a, 5) cpu:store(t.c, 7)\n"
                    "local a, b, c = cpu:load_all(t.a, t.b, t.c)\n"
                    "assert(a == 5 and b == 0 and c == 7) cpu:tally(nil, a + b + c)"),
            12);
}

// CPU 1 waits for CPU 0; the spin returns the word's value.
TEST(LuaProgram, ASpinWithoutAPauseIsASpin) {
  const std::string text =
      "ends = true\nfunction setup() t = place(structure { name = 't', 'a' }, 't') end\n"
      "function run(cpu) if cpu.id == 0 then cpu:compute(3000) cpu:store(t.a, 6) return end\n"
      "cpu:tally(nil, cpu:spin_without_pause(t.a, '~=', 0)) end";
  EXPECT_EQ(LuaRun(text).tallied(), 6);
}

// The interrupt reaches CPU 1 in its computation after 100 ns; it takes 50 cycles to the handler and 400 to drop the page.
TEST(LuaProgram, AShootdownReturnsWhenTheOtherCpuHasDroppedItsTranslations) {
  MachineSpec spec = small_machine(2);
  spec.cpu.page_invalidation_cycles = 400;
  const std::string text =
      "ends = true\nfunction setup() shootdowns() m = place_array('m', 4096) end\n"
      "function run(cpu) if cpu.id == 1 then cpu:compute(9000) cpu:now_ns() return end\n"
      "cpu:compute(2000) local begin = cpu:now_ns() cpu:shoot_down({ 0, 1, 1 }, m)\n"
      "cpu:tally(nil, cpu:now_ns() - begin > 550 and 1 or 0) end";
  EXPECT_EQ(LuaRun(text, spec).tallied(), 1);
}

const std::string kShootsCpu2 = "ends = true\nfunction run(cpu) cpu:shoot_down({ 2 }, 0) end\n";

TEST(LuaProgram, AShootdownIsRefusedWithoutItsMemory) {
  EXPECT_THAT(error_of(kShootsCpu2), testing::HasSubstr("setup() must call shootdowns() before"));
}
TEST(LuaProgram, AShootdownIsRefusedForACpuThatIsNotThere) {
  EXPECT_THAT(error_of(kShootsCpu2 + "function setup() shootdowns() end"), testing::HasSubstr("not a CPU; legal: 0 to 1"));
}
TEST(LuaProgram, ShootdownsArePlacedOnce) {
  EXPECT_THAT(error_of(kShootsCpu2 + "function setup() shootdowns() shootdowns() end"), testing::HasSubstr("call it once"));
}

// A field is an offset: address + field is a word, for example with a pointer that was loaded.
TEST(LuaProgram, AFieldAddedToAnAddressIsAWord) {
  const std::string text =
      "ends = true\nfunction setup() node = structure { name = 'n', 'next', 'value:2' } n = place(node, 'n', { count = 3 })\n"
      "preset(n[0].next, n[2].address) preset(n[2].value, 11) end\n"
      "function run(cpu) cpu:tally(nil, cpu:load(cpu:load(n[0].next) + node.value)) end";
  EXPECT_EQ(LuaRun(text, small_machine(1)).tallied(), 11);
}

TEST(LuaProgram, PlacesFieldsWhereItSays) {
  const std::string text =
      "ends = true\nfunction setup()\n"
      "  s = structure { name = 's', 'a:2', 'b', { 'c', at = 40, bytes = 4 }, { 'd', count = 2 }, align = 'line' }\n"
      "  place(s, 'x') place(s, 'y')\nend\nfunction run() end";
  LuaRun run(text, small_machine(1));
  const Layout& layout = run.space.layouts().front();
  ASSERT_EQ(layout.fields.size(), 5);
  EXPECT_EQ(layout.fields[1], (Field{"b", 8, 8}));
  EXPECT_EQ(layout.fields[2], (Field{"c", 40, 4}));
  EXPECT_EQ(layout.fields[4], (Field{"d[1]", 56, 8}));
  EXPECT_EQ(layout.size, 64);
  EXPECT_EQ(run.space.object_names(), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(run.space.objects()[1].begin - run.space.objects()[0].begin, 64);
}

TEST(LuaProgram, ObjectsOfACpuAreOnItsNode) {
  const MachineSpec spec = small_nodes(2, 2);
  LuaRun run(
      "ends = true\nfunction setup() p = place_per_cpu(structure { name = 's', 'a' }, 'p') end\n"
      "function run(cpu) cpu:store(p[cpu.id].a, 1) end",
      spec);
  for (int cpu = 0; cpu < 2; ++cpu) {
    const Address begin = run.space.objects()[static_cast<std::size_t>(cpu)].begin;
    EXPECT_EQ(run.small.machine.homes().peek(run.small.machine.store().line_of(begin)),
              run.small.machine.layout().cpus[static_cast<std::size_t>(cpu)].node);
  }
}

// A hit costs its latency and nothing else: Lua itself takes no simulated time.
TEST(LuaProgram, TakesTheTimeOfItsOperationsAlone) {
  const std::string text = kOneWord +
                           "function run(cpu) cpu:load(t.a) local from = cpu:now_ns()\n"
                           "for i = 1, 100 do local x = 2 * i end cpu:load(t.a) cpu:compute(10)\n"
                           "cpu:tally(nil, math.tointeger(cpu:now_ns() - from)) end";
  EXPECT_EQ(LuaRun(text, small_machine(1)).tallied(), 2 + 10);
}

const std::string kTwoWords = "ends = true\nfunction setup() t = place(structure { name = 't', 'a', 'b' }, 't') end\n";

TEST(LuaProgram, ASpinEndsWhenItsWordIsAsAsked) {
  LuaRun run(kTwoWords +
             "function run(cpu) if cpu.id == 0 then cpu:compute(5000) cpu:store(t.a, 6)\n"
             "else cpu:tally(nil, cpu:spin_until(t.a, '>=', 5)) end end");
  EXPECT_EQ(run.tallied(), 6);
}

TEST(LuaProgram, ASpinOnSeveralWordsSaysWhichOneEndedIt) {
  LuaRun run(kTwoWords +
             "function run(cpu) if cpu.id == 0 then cpu:compute(5000) cpu:store(t.b, 12)\n"
             "else cpu:tally(nil, cpu:spin_until_any { { t.a, '==', 1 }, { t.b, '==', 4, 7 } }) end end");
  EXPECT_EQ(run.tallied(), 2);
}

// The second condition holds at once, so the first one's result is visible whether it holds or not.
TEST(LuaProgram, SpinsCompareSignedNumbersAsLuaDoes) {
  EXPECT_EQ(counted("local numbers = { math.mininteger, -4, -3, -2, 0, 1, math.maxinteger }\n"
                    "local function holds(sign, left, right)\n"
                    "  cpu:store(t.a, left)\n"
                    "  return cpu:spin_until_any { { t.a, sign, right }, { t.a, '==', left } } == 1\n"
                    "end\n"
                    "for _, left in ipairs(numbers) do for _, right in ipairs(numbers) do\n"
                    "  assert(holds('==', left, right) == (left == right) and holds('~=', left, right) == (left ~= right))\n"
                    "  assert(holds('<', left, right) == (left < right) and holds('<=', left, right) == (left <= right))\n"
                    "  assert(holds('>', left, right) == (left > right) and holds('>=', left, right) == (left >= right))\n"
                    "  cpu:tally()\n"
                    "end end"),
            49);
}

TEST(LuaProgram, EachCpuHasLuasLibraryToItself) {
  const std::string text =
      "ends = true\nfunction setup() t = place(structure { name = 't', 'a' }, 't') end\n"
      "function run(cpu)\n"
      "  assert(math.secret == nil and string.secret == nil)\n"
      "  math.secret, string.secret = 1, 2\n"
      "  cpu:store(t.a, 1)\n"
      "  assert(('a'):rep(3):upper() == 'AAA' and '10' + 1 == 11 and math.maxinteger + 1 == math.mininteger)\n"
      "  assert(table.concat({ 1, 2 }, ',') == '1,2' and ('%d'):format(7) == '7' and math.huge > math.pi)\n"
      "  cpu:tally()\nend";
  EXPECT_EQ(LuaRun(text).tallied(), 2);
}

TEST(LuaProgram, FunctionsWithANameAreKnownToReports) {
  LuaRun run(
      "ends = true\nwork = named('work', function(cpu, a, b) cpu:execute(40) return a + b, 'x' end)\n"
      "function run(cpu) local sum, x = work(cpu, 2, 3) assert(sum == 5 and x == 'x') end",
      small_machine(1));
  ASSERT_EQ(run.space.functions().size(), 2);
  EXPECT_EQ(run.space.functions()[1].name, "work");
  EXPECT_EQ(run.small.machine.cpu(0).counters().by_function[1].instructions, 40);
}

TEST(LuaProgram, AcquiresLocksOfTheTableAndItsOwn) {
  const std::string text =
      "ends = true\nfunction setup()\n  t = place(structure { name = 't', 'n', 'held', 'inside' }, 't')\n"
      "  own = lock({ acquire = function(cpu, lock) while cpu:exchange(t.held, 1) ~= 0 do end return false end,\n"
      "    release = function(cpu, lock) cpu:store_release(t.held, 0) end }, 'own')\n  table_lock = lock('mcs', 'l')\nend\n"
      "function run(cpu)\n  for i = 1, 50 do\n    for _, l in ipairs { own, table_lock } do cpu:acquire(l) end\n"
      "    cpu:store(t.n, cpu:load(t.n) + 1)\n    cpu:release(table_lock) cpu:release(own)\n  end\n"
      "  cpu:tally(nil, cpu:load(t.n))\nend";
  LuaRun run(text, small_machine(4));
  EXPECT_GE(run.tallied(), 200);
  EXPECT_EQ(run.locks.created().size(), 2);
}

TEST(LuaProgram, MeetsAtBarriers) {
  EXPECT_EQ(LuaRun("ends = true\nfunction setup() b = barrier('b') t = place(structure { name = 't', 'n' }, 't') end\n"
                   "function run(cpu) cpu:fetch_add(t.n, 1) cpu:meet(b) cpu:tally(nil, cpu:load(t.n)) end",
                   small_machine(4))
                .tallied(),
            16);
}

TEST(LuaDeclaration, HasTypesRangesAndMeanings) {
  const LuaDeclaration declared = declaration_of(
      {"a.lua",
       "title = 'T'\nparameters = { { name = 'outside_cycles', default = 10, min = 1, max = 99, meaning = 'm' },\n"
       "{ name = 'share', default = 0.5, meaning = 's' }, { name = 'lock', default = 'mcs', lock = true, meaning = 'l' } }\n"
       "function run() end"});
  EXPECT_EQ(declared.title, "T");
  ASSERT_EQ(declared.parameters.size(), 3);
  EXPECT_EQ(std::get<std::int64_t>(declared.parameters[0].default_value), 10);
  EXPECT_EQ(declared.parameters[0].maximum, 99);
  EXPECT_TRUE(std::holds_alternative<double>(declared.parameters[1].default_value));
  EXPECT_THAT(declared.parameters[2].choices, testing::Contains("clh"));
}

}  // namespace
}  // namespace linebounce::test
