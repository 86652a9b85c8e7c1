"""Additions to the simulated hardware."""

from addition import Clone, addition, after, before, instead, row

PROTOCOL = """# MESI with migratory reads, once more

This is [mesi_snoop](mesi_snoop.md) with one row changed, as in [mesi_migratory_snoop](mesi_migratory_snoop.md).

| property | value |
|----------|-------|
| extends  | mesi_snoop |

## cache

| in | on         | do                                                 | then | why |
|----|------------|----------------------------------------------------|------|-----|
| M  | Other_GetS | assert owned; send data to requestor, memory; free | I    | the reader gets the only copy |
"""
SHIPPED = "tests/models/coherence/shipped.hpp"
BROKEN = "tests/models/coherence/checker/broken_rows_test.cpp"


@addition(
    "protocol",
    "models/protocols/README.md",
    files={"models/protocols/sample_snoop.md": PROTOCOL},
    edits=(
        after(SHIPPED, '"mesi_migratory_snoop"', ', "sample_snoop"'),
        before(
            BROKEN,
            '    {"msi_atomic", {',
            '    {"sample_snoop",\n'
            '     {"cache E Other_PutM: to S", "cache E Other_PutM: to M", "cache SM_AD Other_PutM: to IM_AD",\n'
            '      "cache SM_AD Own_GetM: to E", "cache IM_D Data: to E"}},\n',
        ),
        after("tests/end_to_end/rare_rows.py", '"mesi_far", "mesi_migratory"', ', "sample"'),
    ),
    row=row("models/protocols/README.md", "| `mesi_migratory_snoop.md`", "| `sample_snoop.md` | a sample |"),
    targets=("test_models_coherence_checker",),
)
def protocol(clone: Clone) -> None:
    assert "sample_snoop" in clone.linebounce("list", "protocols")
    clone.linebounce("check", "sample_snoop")
    clone.ctest("test_models_coherence_checker", "*sample_snoop*")
    clone.pytest("tests/end_to_end/test_rare_rows.py", "sample or belongs")


@addition(
    "action of protocols",
    "models/coherence/README.md",
    edits=(
        after(
            "models/coherence/protocol.hpp", "  assert_owned,\n", "  note_sample,  // says in the step's outcome that it ran\n"
        ),
        before(
            "models/coherence/action_grammar.cpp",
            '    Word{"send data", ',
            '    Word{"note sample", Verb::note_sample, at_other, "Other_ events", kOnBus},\n',
        ),
        after("models/coherence/bus_order.hpp", "  BusLines lines;\n", "  bool noted = false;\n"),
        before(
            "models/coherence/bus_order.hpp",
            "      case Verb::send_data:\n",
            "      case Verb::note_sample: outcome_.noted = true; break;\n",
        ),
        before(
            "models/coherence/checker/murphi_bus.cpp",
            "    case Verb::take_data:\n",
            "    case Verb::note_sample: break;\n",
        ),
        before(
            "tests/models/coherence/bus_order_test.cpp",
            "TEST_F(Bus, MemorySuppliesALineThatNoCacheHasAndTheReaderGetsItExclusively) {",
            """TEST_F(Bus, ASnooperNotesTheSample) {
  std::string text = shipped_text("mesi_snoop");
  text.replace(text.find("assert shared"), 13, "assert shared; note sample");
  protocol = parse_protocol({{"noting.md", text}});
  line.states = {state("IS_AD"), state("S"), 0};
  EXPECT_TRUE(order("GetS", 0).noted);
}

""",
        ),
    ),
    targets=("test_models_coherence",),
)
def action(clone: Clone) -> None:
    clone.ctest("test_models_coherence", "Bus.ASnooperNotesTheSample")
    text = (clone.folder / "models/protocols/mesi_snoop.md").read_text(encoding="utf-8")
    noting = clone.folder / "out" / "noting.md"
    noting.parent.mkdir(exist_ok=True)
    noting.write_text(text.replace("assert shared", "assert shared; note sample", 1), encoding="utf-8")
    clone.linebounce("check", noting)
    clone.linebounce("check", noting, "--murphi", noting.with_suffix(".m"))


@addition(
    "guard of protocols",
    "models/coherence/README.md",
    edits=(
        after("models/coherence/protocol.hpp", "  owned_shared_alone,\n", "  sample_alone,  // as shared_alone\n"),
        after(
            "models/coherence/controller_compiler.cpp",
            '    {GuardGroup::shared_alone, at_own, {"shared", "alone"}},\n',
            '    {GuardGroup::sample_alone, at_own, {"sample", "alone"}},\n',
        ),
        after(
            "models/coherence/controller_entry.hpp",
            "    case GuardGroup::shared_alone: return bus.shared ? 0 : 1;\n",
            "    case GuardGroup::sample_alone: return bus.shared ? 0 : 1;\n",
        ),
        after(
            "models/coherence/checker/murphi_writer.cpp",
            '    case GuardGroup::shared_alone: return unless("t.shared");\n',
            '    case GuardGroup::sample_alone: return unless("t.shared");\n',
        ),
        before(
            "tests/models/coherence/bus_order_test.cpp",
            "TEST_F(Bus, ModifiedLineIsSuppliedByItsOwnerAndReachesMemoryToo) {",
            """TEST_F(Bus, AReaderIsToldOfOtherCopiesByTheSample) {
  std::string text = shipped_text("mesi_snoop");
  for (std::size_t at = 0; (at = text.find("[shared", at)) != std::string::npos;) text.replace(at, 7, "[sample");
  protocol = parse_protocol({{"sample.md", text}});
  line.states = {state("IS_AD"), state("S"), 0};
  order("GetS", 0);
  data_step(protocol, line, 0);
  EXPECT_EQ(state_of(0), "S");
}

""",
        ),
    ),
    targets=("test_models_coherence",),
)
def guard(clone: Clone) -> None:
    clone.ctest("test_models_coherence", "Bus.AReaderIsToldOfOtherCopiesByTheSample")
    text = (clone.folder / "models/protocols/mesi_snoop.md").read_text(encoding="utf-8")
    asking = clone.folder / "out" / "asking.md"
    asking.parent.mkdir(exist_ok=True)
    asking.write_text(text.replace("[shared", "[sample"), encoding="utf-8")
    clone.linebounce("check", asking)
    clone.linebounce("check", asking, "--murphi", asking.with_suffix(".m"))


MACHINES = "tests/end_to_end/test_random_differential.py"
# The machines that name the source of each of the bus's parameters by itself.
ONE_BY_ONE = (
    "numaq_16way",
    "p3_xeon_4way",
    "p3_xeon_8way",
    "p4_router_2way_ht",
    "p4_xeon_ht_16way",
    "p4_xeon_ht_2way",
    "x445_8way",
    "x460_8way",
)


@addition(
    "parameter of machines",
    "models/README.md",
    files={
        "tests/models/bus/sample_clocks_test.cpp": """#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

// A clock of the bus is 10 ns, and the response of an upgrade comes two clocks later.
TEST(SampleClocks, DelayTheResponseOfAnUpgrade) {
  const auto upgrade = [](int clocks) {
    MachineSpec spec = small_machine(2);
    spec.bus.sample_clocks = clocks;
    double taken = 0;
    SmallMachine small(spec);
    small.run({[&](Cpu& cpu) {
                 cpu.load(kLine);
                 taken = cycles_from(cpu, 3000, [&] { cpu.store(kLine, 1); });
               },
               [](Cpu& cpu) {
                 wait_until(cpu, 1000);
                 cpu.load(kLine);
               }});
    return taken;
  };
  EXPECT_EQ(upgrade(2), upgrade(0) + 20);
}

}  // namespace
}  // namespace linebounce::test
"""
    },
    edits=(
        after("models/bus_spec.hpp", "  int response_clocks = 0;\n", "  int sample_clocks = 0;\n"),
        before(
            "models/bus_spec.hpp",
            '    keys.clocks("intervention_clocks", ',
            '    keys.clocks("sample_clocks", sample_clocks, "further clocks to the response");\n',
        ),
        instead(
            "models/bus/snooping_bus.cpp",
            "response(spec.response_clocks * clock)",
            "response((spec.response_clocks + spec.sample_clocks) * clock)",
        ),
        *(
            after(f"configs/machines/{name}.toml", "[sources]\n", '"bus.sample_clocks" = "assumed: none"\n')
            for name in ONE_BY_ONE
        ),
        before(MACHINES, '    "tso": TSO,\n', '    "sample clocks": {"bus.sample_clocks": 2},\n'),
    ),
    targets=("test_models_bus",),
)
def parameter(clone: Clone) -> None:
    assert "sample_clocks" in clone.linebounce("describe", "machine", "p3_xeon_4way")
    clone.linebounce("run", "two_sockets", "--set", "machine.bus.sample_clocks=1", "--set", "run.measure_us=20", "-o", "out/p")
    clone.ctest("test_models_bus", "SampleClocks.*")
    clone.pytest(MACHINES, "sample and clocks")
    clone.pytest("commands/describe/tests/test_list_describe.py", "where_it_comes_from")


@addition(
    "replacement policy",
    "models/cache/README.md",
    files={
        "models/cache/replacement/sample.hpp": """// Evicts the first way that may be evicted.
#pragma once

namespace linebounce {

struct SamplePolicy {
  template <class AgeOf, class Evictable>
  [[nodiscard]] static int victim(int ways, AgeOf, Evictable evictable) {
    for (int way = 0; way < ways; ++way) {
      if (evictable(way)) return way;
    }
    return -1;
  }
};

}  // namespace linebounce
"""
    },
    edits=(
        after(
            "models/cache/replacement/policies.hpp",
            '#include "models/cache/replacement/lru.hpp"\n',
            '#include "models/cache/replacement/sample.hpp"\n',
        ),
        after(
            "models/cache/replacement/policies.hpp",
            "return TreePlru::victim(ways, age_of, evictable);\n",
            "    case Replacement::sample: return SamplePolicy::victim(ways, age_of, evictable);\n",
        ),
        after("models/cpu_spec.hpp", "enum class Replacement { lru, tree_plru", ", sample"),
        after("models/cpu_spec.hpp", 'std::to_array<std::string_view>({"lru", "tree_plru"', ', "sample"'),
        before(
            "tests/models/cache/cache_array_test.cpp",
            "TEST(Replacement, AgesCountNotTheOrderOfCalls) {",
            """TEST(SamplePolicy, TheFirstWayThatMayGoGoes) {
  CacheArray array = full_set(Replacement::sample);
  array.touch(array.find(0), 10);
  EXPECT_EQ(victim_block(array), 0U);
  EXPECT_EQ(array.copy(array.victim(4, [](CopyIndex copy) { return copy >= 2; })), 2U);
}

""",
        ),
        before(MACHINES, '    "L2 not inclusive": ', '    "sample policy": TINY | {"cache.L2.replacement": "sample"},\n'),
    ),
    row=row("models/cache/README.md", "| `replacement/tree_plru.hpp`", "| `replacement/sample.hpp` | a sample |"),
    targets=("test_models_cache",),
)
def replacement(clone: Clone) -> None:
    clone.ctest("test_models_cache", "SamplePolicy.*")
    short = ("--set", "run.measure_us=20", "-o", "out/policy")
    clone.linebounce("run", "two_sockets", "--set", "machine.cache.L2.replacement=sample", *short)
    clone.pytest(MACHINES, "sample and policy")


@addition(
    "topology",
    "models/network/README.md",
    files={
        "tests/models/network/sample_topology_test.cpp": """#include <gtest/gtest.h>

#include "models/network/topology.hpp"

namespace linebounce {
namespace {

TEST(SampleTopology, AllRoutesLeadThroughTheFirstNode) {
  NetworkSpec spec;
  spec.topology = Topology::star;
  const NetworkMap map = lay_links(spec, 4);
  EXPECT_EQ(map.way(0, 3).size(), 1U);
  EXPECT_EQ(map.way(1, 3).size(), 2U);
}

}  // namespace
}  // namespace linebounce
"""
    },
    edits=(
        after(
            "models/node_spec.hpp",
            "enum class Topology { crossbar, fully_connected, ring, mesh, torus, hypercube, links",
            ", star",
        ),
        after("models/node_spec.hpp", '"torus", "hypercube", "links"', ', "star"'),
        after(
            "models/network/topology.cpp",
            "    case Topology::hypercube: hypercube(links, nodes); break;\n",
            "    case Topology::star:\n      for (int node = 1; node < nodes; ++node) links.join(0, node);\n      break;\n",
        ),
        row("models/network/README.md", "| `hypercube` |", "| `star` | between node 0 and each other one |"),
    ),
    targets=("test_models_network",),
)
def topology(clone: Clone) -> None:
    clone.ctest("test_models_network", "SampleTopology.*")
    short = ("--set", "run.measure_us=20", "-o", "out/star")
    clone.linebounce("run", "counter_scaling", "--machine", "numaq_16way", "--set", "machine.network.topology=star", *short)


@addition(
    "operation of programs",
    "models/core/README.md",
    files={
        "tests/models/core/fetch_or_test.cpp": """#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

// An atomic operation takes 20 cycles in this machine.
TEST(FetchOr, SetsBitsInTheTimeOfAnAtomicOperation) {
  SmallMachine small(small_machine(1));
  small.run({[](Cpu& cpu) {
    cpu.store(kLine, 5);
    EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.fetch_or(kLine, 2), 5U); }), 20);
    EXPECT_EQ(cpu.load(kLine), 7U);
  }});
}

}  // namespace
}  // namespace linebounce::test
"""
    },
    edits=(
        after(
            "models/core/cpu.hpp",
            "  virtual Value fetch_add(Address address, Value addend, int bytes = 8) = 0;\n",
            "  virtual Value fetch_or(Address address, Value bits, int bytes = 8) = 0;\n",
        ),
        after(
            "models/core/hardware_thread.hpp",
            "  Value fetch_add(Address address, Value addend, int bytes) override;\n",
            "  Value fetch_or(Address address, Value bits, int bytes) override;\n",
        ),
        before(
            "models/core/hardware_thread.cpp",
            "Value HardwareThread::compare_exchange(",
            "Value HardwareThread::fetch_or(Address address, Value bits, int bytes) {\n"
            "  return perform(operation_on(OperationKind::fetch_or, address, bytes, bits));\n}\n\n",
        ),
        after(
            "models/core/cpu_operation.hpp",
            "enum class OperationKind : std::uint8_t { load, store, exchange, fetch_add, compare_exchange",
            ", fetch_or",
        ),
        before(
            "models/core/cache_unit.cpp",
            "    case OperationKind::fetch_add: return spec_.atomic_latency;\n",
            "    case OperationKind::fetch_or:\n",
        ),
        after(
            "models/core/cache_unit.cpp",
            "    if (operation.kind == OperationKind::fetch_add) fresh = old + operation.operand;\n",
            "    if (operation.kind == OperationKind::fetch_or) fresh = old | operation.operand;\n",
        ),
        after(
            "sim/interleavings/checked_cpu.hpp",
            "  Value fetch_add(Address address, Value addend, int bytes) override;\n",
            "  Value fetch_or(Address address, Value bits, int bytes) override;\n",
        ),
        before(
            "sim/interleavings/checked_cpu.cpp",
            "Value CheckedCpu::compare_exchange(",
            "Value CheckedCpu::fetch_or(Address address, Value bits, int bytes) {\n"
            "  Value old = load(address, bytes);\n"
            "  for (Value found = 0; (found = compare_exchange(address, old, old | bits, bytes)) != old;) old = found;\n"
            "  return old;\n}\n\n",
        ),
        before(
            "tests/fuzz/lone_cpu.hpp",
            "  Value compare_exchange(Address address, Value expected, Value desired, int bytes) override {\n",
            "  Value fetch_or(Address address, Value bits, int bytes) override {\n"
            "    return exchange(address, word(address, bytes) | bits, bytes);\n  }\n",
        ),
        before(
            "workloads/replay/recorder.cpp",
            "    case OperationKind::exchange: return Kind::exchange;\n",
            "    case OperationKind::fetch_or:\n",
        ),
        before(
            "commands/steps/step_recorder.cpp",
            "        case OperationKind::exchange: return StepOperation::exchange;\n",
            "        case OperationKind::fetch_or:\n",
        ),
        instead(
            "workloads/micro/random_player.hpp", "std::array<const char*, 12> kShares", "std::array<const char*, 13> kShares"
        ),
        after("workloads/micro/random_player.hpp", '"load_all_share", "invalidate_share"', ', "or_share"'),
        after("workloads/micro/random_player.hpp", "&Player::load_all, &Player::invalidate", ", &Player::set_bits"),
        before(
            "workloads/micro/random_player.hpp",
            "  void prefetch() {\n",
            "  void set_bits() { note(cpu_.fetch_or(memory_.flags + 8 * me(), 2)); }\n\n",
        ),
        instead("workloads/micro/random_references.cpp", "10, 3, 2, 3, 2, 0, 0}", "10, 3, 2, 3, 2, 0, 0, 0}"),
    ),
    targets=("test_models_core",),
)
def operation(clone: Clone) -> None:
    clone.ctest("test_models_core", "FetchOr.*")
    clone.linebounce("describe", "workload", "random_references")
    clone.pytest(MACHINES, "plain and not horizon")
