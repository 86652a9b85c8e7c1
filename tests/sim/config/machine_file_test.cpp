#include <fmt/format.h>

#include "fixture.hpp"

namespace linebounce::sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class MachineFile : public ConfigFiles {
 protected:
  std::string with(const std::string& part, const std::string& replacement) const {
    return machine_error(replace_line(kMachine, part, replacement));
  }
};

const DescribedParameter& parameter(const DescribedMachine& machine, const std::string& path) {
  for (const auto& candidate : machine.parameters) {
    if (candidate.path == path) return candidate;
  }
  throw std::logic_error("no parameter " + path);
}

TEST_F(MachineFile, EveryValueReachesItsMember) {
  const MachineSpec spec = load_machine(path("m.toml")).spec;
  EXPECT_EQ(spec.name, "m");
  EXPECT_EQ(spec.title, "a machine");
  EXPECT_EQ(spec.cpus, 4);
  EXPECT_EQ(spec.cpus_present, 4);
  EXPECT_EQ(spec.cpu.clock, (Frequency{2000, 3}));
  EXPECT_EQ(spec.cpu.atomic_latency_cycles, 40);
  ASSERT_EQ(spec.caches.size(), 2U);
  EXPECT_EQ(spec.caches[0].name, "L1D");
  EXPECT_EQ(spec.caches[1].ways, 8);
  EXPECT_EQ(spec.bus.protocol, "mesi_snoop");
  EXPECT_DOUBLE_EQ(spec.memory.latency_ns, 100);
}

TEST_F(MachineFile, WhatTheFileLeavesOutHasTheMembersInitialiser) {
  const MachineSpec spec = load_machine(path("m.toml")).spec;
  EXPECT_EQ(spec.cpu.outstanding_misses, CpuSpec{}.outstanding_misses);
  EXPECT_EQ(spec.bus.outstanding, BusSpec{}.outstanding);
  EXPECT_EQ(spec.cpu.consistency, Consistency::sc);
  EXPECT_TRUE(spec.caches[1].inclusive);
}

TEST_F(MachineFile, TheBusesLineIsDescribedAsWhatItComesTo) {
  EXPECT_EQ(parameter(load_machine(path("m.toml")), "machine.bus.line_bytes").value, "64");
}

TEST_F(MachineFile, CachesAreInTheOrderOfTheTextUnlessCacheLevelsNamesIt) {
  std::string text = kMachine;
  text.replace(text.find("[cache.L1D]"), 11, "[cache.near]");
  text.replace(text.find("[cache.L2]"), 10, "[cache.far]");
  EXPECT_EQ(load_machine(write("x.toml", text)).spec.caches[0].name, "near");
  const auto named = replace_line(text, "cpus = 4", "cpus = 4\ncache_levels = [\"near\", \"far\"]");
  EXPECT_EQ(load_machine(write("x.toml", named)).spec.caches[1].name, "far");
  EXPECT_EQ(machine_error(replace_line(text, "cpus = 4", "cache_levels = [\"near\"]\ncpus = 4")),
            "x.toml:3:16: cache_levels: expected each cache once, the nearest to the core first; the caches are near, far");
}

TEST_F(MachineFile, DescribingListsValueUnitAndTheMostSpecialSource) {
  const DescribedMachine machine = load_machine(path("m.toml"));
  EXPECT_EQ(parameter(machine, "machine.memory.latency_ns").value, "100");
  EXPECT_EQ(parameter(machine, "machine.memory.latency_ns").unit, "ns");
  EXPECT_EQ(parameter(machine, "machine.memory.latency_ns").source, "calibrated: a.row");
  EXPECT_EQ(parameter(machine, "machine.memory.banks").source, "assumed: a test");
  EXPECT_EQ(parameter(machine, "machine.cpu.clock_mhz").value, "666.667");
  EXPECT_EQ(parameter(machine, "machine.bus.clock_mhz").source, "assumed (no source given)");
  EXPECT_FALSE(parameter(machine, "machine.bus.clock_mhz").has_source);
}

TEST_F(MachineFile, ShippedMachinesLoadAndGiveASourceForEveryParameter) {
  ASSERT_FALSE(machine_names().empty());
  for (const auto& name : machine_names()) {
    const DescribedMachine machine = load_machine(name);
    EXPECT_EQ(machine.spec.name, name);
    EXPECT_FALSE(machine.spec.title.empty()) << name;
    for (const auto& each : machine.parameters) EXPECT_TRUE(each.has_source) << name << ": " << each.path;
  }
}

TEST_F(MachineFile, UnknownKeysAreErrorsWithASuggestion) {
  EXPECT_EQ(with("clock_mhz = 666", "clok_mhz = 700"), "x.toml:5:12: cpu.clok_mhz: unknown key; did you mean cpu.clock_mhz?");
  EXPECT_EQ(with("size_kib = 256", "sise_kib = 256"),
            "x.toml:13:12: cache.L2.sise_kib: unknown key; did you mean cache.L2.size_kib?");
  EXPECT_EQ(with("cpus = 4", "cpus = 4\n[memry]\n"), "x.toml:4:2: memry: unknown key; did you mean memory?");
  EXPECT_EQ(
      with("latency_ns = 100", "latency_ns = 100\nzzzzzzzzzz = 1"),
      "x.toml:23:14: memory.zzzzzzzzzz: unknown key; legal below memory: latency_ns, banks, bank_busy_ns, bandwidth_mb_per_s, "
      "nodes, placement, page_kib");
}

TEST_F(MachineFile, AnotherUnitIsNamedAsSuch) {
  EXPECT_EQ(with("latency_ns = 100", "latency_us = 0.1"),
            "x.toml:22:14: memory.latency_us: unknown key; did you mean latency_ns, in ns?");
  EXPECT_EQ(with("size_kib = 256", "size_mib = 1"),
            "x.toml:13:12: cache.L2.size_mib: unknown key; did you mean size_kib, in KiB?");
  EXPECT_EQ(with("latency_ns = 100", "latency = 100"),
            "x.toml:22:11: memory.latency: unknown key; did you mean latency_ns, in ns?");
}

TEST_F(MachineFile, AWrongTypeSaysWhatWasFoundAndWhatIsExpected) {
  EXPECT_EQ(with("clock_mhz = 666", "clock_mhz = \"fast\""),
            "x.toml:5:13: cpu.clock_mhz: expected a number of MHz, found a string (\"fast\")");
  EXPECT_EQ(with("cpus = 4", "cpus = 4.5"), "x.toml:3:8: cpus: expected an integer, found a float (4.5)");
  EXPECT_EQ(with("ways = 4", "ways = [4]"), "x.toml:9:8: cache.L1D.ways: expected an integer, found an array");
  EXPECT_EQ(with("title", "title = 4"), "x.toml:2:9: title: expected a string, found an integer (4)");
  EXPECT_EQ(with("title", "title = 2004-07-21"), "x.toml:2:9: title: expected a string, found a date or time");
  EXPECT_EQ(with("ways = 8", "ways = 8\ninclusive = 1"),
            "x.toml:15:13: cache.L2.inclusive: expected true or false, found an integer (1)");
  EXPECT_EQ(
      with("title", "title = \"t\"\nmemory = 5\n[other]"),
      "x.toml:23:1: this is not TOML: Error while parsing table header: cannot redefine existing integer 'memory' as table");
  EXPECT_THAT(machine_error("name = \"x\"\ncpus = 1\nbus = 3\n[cache.L1D]\nways = 1\n"),
              StartsWith("x.toml:3:7: bus: is a table of keys and takes no value; legal below bus: protocol"));
  EXPECT_EQ(with("cpus = 4", "cpus.all = 4"), "x.toml:3:12: cpus: expected an integer, found a table");
}

TEST_F(MachineFile, AQuantityMayBeWrittenAsIntegerOrFloat) {
  EXPECT_DOUBLE_EQ(
      load_machine(write("x.toml", replace_line(kMachine, "latency_ns = 100", "latency_ns = 62.5"))).spec.memory.latency_ns,
      62.5);
  EXPECT_EQ(load_machine(write("x.toml", replace_line(kMachine, "cpus = 4", "cpus = 4.0"))).spec.cpus, 4);
}

TEST_F(MachineFile, ValuesOutOfRangeAreErrorsWithTheLegalOnes) {
  EXPECT_EQ(with("cpus = 4", "cpus = 0"), "x.toml:3:8: cpus: 0 is out of range; legal: 1 to 512");
  EXPECT_EQ(with("cpus = 4", "cpus = 513"), "x.toml:3:8: cpus: 513 is out of range; legal: 1 to 512");
  EXPECT_EQ(with("latency_ns = 100", "latency_ns = -1"),
            "x.toml:22:14: memory.latency_ns: -1 is out of range; legal: 0 to 10000000 ns");
  EXPECT_EQ(with("latency_ns = 100", "latency_ns = nan"),
            "x.toml:22:14: memory.latency_ns: expected a number, found nan; a value must be finite");
  EXPECT_EQ(with("latency_ns = 100", "latency_ns = -inf"),
            "x.toml:22:14: memory.latency_ns: expected a number, found inf; a value must be finite");
  EXPECT_THAT(with("cpus = 4", "cpus = 99999999999999999999"),
              HasSubstr("x.toml:3:28: this is not TOML: Error while parsing decimal integer"));
  EXPECT_THAT(with("latency_ns = 100", "latency_ns = 1e400"),
              HasSubstr("x.toml:22:19: this is not TOML: Error while parsing floating-point"));
  EXPECT_EQ(with("clock_mhz = 100", "clock_mhz = 1.2345"),
            "x.toml:19:13: bus.clock_mhz: 1.2345 MHz is not a fraction with a denominator of at most 64");
}

TEST_F(MachineFile, AMissingKeyIsNamedWithItsMeaning) {
  EXPECT_EQ(with("latency_ns = 100", ""),
            "x.toml: memory.latency_ns: this key is missing and has no default (address phase to first data, in ns)");
  EXPECT_EQ(machine_error("name = \"x\"\ncpus = 1\n"),
            "x.toml: cache: a machine needs at least one cache: [cache.L1D] and its keys");
}

TEST_F(MachineFile, SyntaxErrorsAndDuplicateKeysHaveTheirPlace) {
  EXPECT_EQ(with("cpus = 4", "cpus = 4\ncpus = 5"),
            "x.toml:4:8: this is not TOML: Error while parsing key-value pair: cannot redefine existing integer 'cpus'");
  EXPECT_THAT(with("cpus = 4", "cpus = = 4"), HasSubstr("x.toml:3:8: this is not TOML: "));
  // toml++ assumes that such a letter can't occur where whitespace is expected, and marks that case as unreachable. A
  // sanitizer would report that it is reached.
  EXPECT_THAT(with("cpus = 4", "cpus\u00b7 = 4"), HasSubstr("x.toml:3:5: this is not TOML: "));
  EXPECT_THAT(with("[cpu]", "[=cpu]"), HasSubstr("x.toml:4:2: this is not TOML: "));
}

TEST_F(MachineFile, FilesThatAreNotTextAreRefused) {
  EXPECT_EQ(machine_error(""), "x.toml: the file is empty");
  EXPECT_EQ(machine_error(" \n"), "x.toml: the file is empty");
  EXPECT_EQ(machine_error(std::string("\x7f"
                                      "ELF\0\1",
                                      6)),
            "x.toml: this is a binary file, not TOML text");
  std::filesystem::create_directory(folder_ / "d.toml");
  EXPECT_EQ(error_of([&] { load_machine(path("d.toml")); }), "d.toml: this is a folder, not a file");
  EXPECT_EQ(error_of([&] { load_machine(path("none.toml")); }), "none.toml: there is no such file");
}

TEST_F(MachineFile, AnUnknownNameListsTheKnownOnes) {
  EXPECT_THAT(error_of([] { load_machine("p3_xeon_4wya"); }),
              AllOf(HasSubstr("machine \"p3_xeon_4wya\" is not known; did you mean p3_xeon_4way"),
                    HasSubstr("`linebounce list machines` shows all ")));
}

TEST_F(MachineFile, ItsHistoryLeadsToWhatItHasToday) {
  const auto entry = [](const std::string& day, const std::string& changed) {
    return "[[history]]\ndate = \"" + day + "\"\nwhat = \"fitted again\"\nwhy = \"a better matrix\"\n" + changed;
  };
  const auto error = [&](const std::string& text) { return machine_error(std::string(kMachine) + text); };
  const std::string first =
      entry("2026-11-20", "changed = { \"memory.latency_ns\" = [80, 90], bus.outstanding = [8, \"default\"] }\n");
  const std::string second = entry("2026-11-22", "changed = { \"memory.latency_ns\" = [90.0, 100] }\n");
  const DescribedMachine machine =
      load_machine(write("x.toml", kMachine + entry("2026-11-19", "") + replace_line(first, "changed", "") + second));
  ASSERT_EQ(machine.history.size(), 3U);
  EXPECT_EQ(machine.history[0].date, "2026-11-19");
  EXPECT_EQ(machine.history[0].why, "a better matrix");
  EXPECT_EQ(machine.history[2].changed.at(0).path, "machine.memory.latency_ns");
  EXPECT_EQ(machine.history[2].changed.at(0).before, "90");
  EXPECT_EQ(error(second), "no error");
  EXPECT_EQ(error("[history]\nwhat = \"x\"\n"), "x.toml:26:1: history: expected [[history]] tables, found a table");
  EXPECT_EQ(error(entry("2026-11-22", "changed = { \"memory.latency_ns\" = [90, 95] }\n")),
            "x.toml:30:35: history.changed.\"memory.latency_ns\": ends at 95, but the machine has 100");
  EXPECT_EQ(error(entry("2026-11-20", "changed = { \"memory.latency_ns\" = [80, 85] }\n") + second),
            "x.toml:35:35: history.changed.\"memory.latency_ns\": begins at 90, but the entry before left it at 85");
  EXPECT_EQ(error(entry("2026-11-22", "changed = { \"memory.latency\" = [90, 95] }\n")),
            "x.toml:30:32: history.changed.\"memory.latency\": there is no such parameter; the last entry of a removed one "
            "ends at \"default\"");
  EXPECT_EQ(error(entry("2026-11-22", "changed = { \"memory.latency\" = [90, \"default\"] }\n")), "no error");
  EXPECT_EQ(
      error(entry("2026-11-22", "changed = { \"memory.latency_ns\" = 100 }\n")),
      "x.toml:30:35: history.changed.\"memory.latency_ns\": expected [BEFORE, AFTER]; \"default\" stands for a parameter that "
      "is left out");
  EXPECT_EQ(error(entry("yesterday", "")),
            "x.toml:27:8: history.date: \"yesterday\" is not a date; expected one such as \"2026-01-31\"");
}

TEST_F(MachineFile, SetsMustBeAPowerOfTwo) {
  EXPECT_EQ(with("size_kib = 16", "size_kib = 48"),
            "x.toml:8:12: cache.L1D.size_kib: 48 KiB in 4 ways of 32-byte lines make 384 sets; the number of sets must be a "
            "power of two");
  EXPECT_THAT(with("ways = 4", "ways = 3"), HasSubstr("16 KiB in 3 ways of 32-byte lines make 170.667 sets"));
  EXPECT_THAT(with("ways = 4", "ways = 1024"), HasSubstr("make 0.5 sets"));
}

TEST_F(MachineFile, AFootprintThatIsOffIsNotListedAndOneThatIsOnIs) {
  EXPECT_THROW(parameter(load_machine(path("m.toml")), "machine.footprint.tlb_ways"), std::logic_error);
  const auto file = write("x.toml", replace_line(kMachine, "cpus = 4", "cpus = 4\nfootprint.tlb_entries = 64"));
  const DescribedMachine machine = load_machine(file);
  EXPECT_EQ(parameter(machine, "machine.footprint.tlb_entries").value, "64");
  EXPECT_EQ(parameter(machine, "machine.footprint.tlb_ways").value, "4");
  EXPECT_THROW(parameter(machine, "machine.footprint.code_line_bytes"), std::logic_error);
}

TEST_F(MachineFile, AFootprintHasEffectAndFits) {
  const auto refusal = [this](const std::string& lines) { return with("cpus = 4", "cpus = 4\n" + lines); };
  EXPECT_EQ(refusal("footprint.tlb_miss_cycles = 30"),
            "x.toml:4:29: footprint.tlb_miss_cycles: has no effect, footprint.tlb_entries is 0: give that, or leave this out");
  EXPECT_EQ(refusal("footprint.user_code_kib = 30"),
            "x.toml:4:27: footprint.user_code_kib: has no effect, footprint.code_cache_kib is 0: give that, or leave this out");
  EXPECT_EQ(refusal("footprint = { tlb_entries = 64, tlb_ways = 5 }"),
            "x.toml:4:44: footprint.tlb_ways: 5 does not divide the 64 entries");
  EXPECT_EQ(refusal("footprint = { code_cache_kib = 16, code_cache_ways = 3 }"),
            "x.toml:4:54: footprint.code_cache_ways: 16 KiB are not a whole number of sets of 3 lines of 64 bytes");
}

TEST_F(MachineFile, LinesFitEachOther) {
  EXPECT_EQ(with("line_bytes = 32", "line_bytes = 48"), "x.toml:10:14: cache.L1D.line_bytes: 48 is not a power of two");
  EXPECT_EQ(with("line_bytes = 32", "line_bytes = 128"),
            "x.toml:10:14: cache.L1D.line_bytes: 128 does not divide the 64 bytes of the next level, L2 "
            "(machine.line_bytes sets all levels)");
  EXPECT_EQ(
      with("width_bytes = 8", "width_bytes = 8\nline_bytes = 32"),
      "x.toml:21:14: bus.line_bytes: 32 differs from the 64 bytes of cache L2: all coherence lines on a bus have one size "
      "(machine.line_bytes sets them all)");
  EXPECT_EQ(with("width_bytes = 8", "width_bytes = 8\nline_bytes = 64"), "no error");
  EXPECT_EQ(load_machine(path("m.toml")).spec.bus.line_bytes, 64);
  EXPECT_EQ(with("width_bytes = 8", "width_bytes = 24"),
            "x.toml:20:15: bus.width_bytes: 24 does not divide the coherence line of 64 bytes");
}

TEST_F(MachineFile, OneKeyIsTheLineSizeOfEveryCacheAndBus) {
  std::string text = kMachine;
  for (const char* line : {"line_bytes = 32\n", "line_bytes = 64\n"}) text.erase(text.find(line), std::string(line).size());
  const MachineSpec spec = load_machine(write("x.toml", replace_line(text, "cpus = 4", "cpus = 4\nline_bytes = 128"))).spec;
  EXPECT_EQ(spec.caches[0].line_bytes, 128);
  EXPECT_EQ(spec.caches[1].line_bytes, 128);
  EXPECT_EQ(spec.bus.line_bytes, 128);
  EXPECT_EQ(with("cpus = 4", "cpus = 4\nline_bytes = 64"),
            "x.toml:11:14: cache.L1D.line_bytes: 32 differs from machine.line_bytes = 64 (x.toml:4:14), the line size of every "
            "cache and bus");
}

TEST_F(MachineFile, AnInclusiveCacheIsAtLeastAsLargeAsTheInnerOne) {
  EXPECT_EQ(with("size_kib = 256", "size_kib = 8"),
            "x.toml:13:12: cache.L2.size_kib: 8 KiB cannot include the 16 KiB of L1D; make it larger or set inclusive = false");
  EXPECT_EQ(with("size_kib = 256", "size_kib = 8\ninclusive = false"), "no error");
}

TEST_F(MachineFile, ACoreHasFourPrivateCachesAtMost) {
  const auto level = [](int number) {
    return fmt::format("[cache.L{}]\nsize_kib = 512\nways = 8\nline_bytes = 64\nhit_latency_cycles = 20\n", number);
  };
  EXPECT_EQ(with("[bus]", level(3) + level(4) + "[bus]"), "no error");
  EXPECT_EQ(with("[bus]", level(3) + level(4) + level(5) + "[bus]"),
            "x.toml:28:12: cache.L5.size_kib: L5 is one level too many; legal: 1 to 4 private caches of a core");
}

TEST_F(MachineFile, TreePlruNeedsAPowerOfTwoOfWays) {
  const auto text = replace_line(replace_line(kMachine, "size_kib = 16", "size_kib = 24\nreplacement = \"tree_plru\""),
                                 "ways = 4", "ways = 6");
  EXPECT_EQ(machine_error(text),
            "x.toml:9:15: cache.L1D.replacement: tree_plru needs a power of two of ways; L1D has 6; use lru");
}

TEST_F(MachineFile, AStoreBufferStandsExactlyWhereTheMemoryModelHasOne) {
  EXPECT_EQ(with("atomic_latency", "consistency = \"tso\"\nstore_buffer_entries = 8"), "no error");
  EXPECT_THAT(with("atomic_latency", "store_buffer_entries = 8"),
              HasSubstr("x.toml:6:24: cpu.store_buffer_entries: consistency = \"sc\" has no store buffer"));
  EXPECT_THAT(with("atomic_latency", "consistency = \"tso\""),
              HasSubstr("cpu.store_buffer_entries: 0 is out of range; consistency \"tso\" and \"ia64\" need a store buffer"));
  EXPECT_EQ(with("atomic_latency", "consistency = \"pso\""),
            "x.toml:6:15: cpu.consistency: \"pso\" is not known; known: sc, tso, ia64; did you mean tso?");
}

TEST_F(MachineFile, HardwareThreadsDivideTheCpus) {
  EXPECT_EQ(with("atomic_latency", "threads_per_core = 3"),
            "x.toml:6:20: cpu.threads_per_core: 3 does not divide the machine's 4 CPUs");
}

TEST_F(MachineFile, AnUnknownProtocolNamesTheNearestOnesAndWhereAllAreListed) {
  EXPECT_THAT(with("protocol", "protocol = \"mesi_snop\""),
              AllOf(HasSubstr("x.toml:18:12: bus.protocol: protocol \"mesi_snop\" is not known; did you mean mesi_snoop"),
                    HasSubstr("`linebounce list protocols` shows all ")));
}

TEST_F(MachineFile, SourcesNameParametersThatExistAndHaveALegalForm) {
  EXPECT_EQ(with("\"memory\"", "\"memroy\" = \"assumed: x\""),
            "x.toml:24:12: sources.\"memroy\": no such parameter: unknown key; did you mean memory?");
  EXPECT_EQ(with("\"memory\"", "\"wheels\" = \"assumed: x\""),
            "x.toml:24:12: sources.\"wheels\": no such parameter: unknown key; legal here: name, title, contention, "
            "cpus_present, cpus, cpu_order, cpu_list, nodes, buses_per_node, cpu_nodes, os_nodes, line_bytes, cpu, footprint, "
            "cache, bus, "
            "memory, node, directory, network");
  EXPECT_EQ(with("\"memory\"", "\"memory.latency_us\" = \"assumed: x\""),
            "x.toml:24:23: sources.\"memory.latency_us\": no such parameter: unknown key; did you mean latency_ns, in ns?");
  EXPECT_EQ(
      with("\"memory\"", "\"memory\" = \"measured: x\""),
      "x.toml:24:12: sources.\"memory\": \"measured: x\" is not a source; legal: \"calibrated: ROW\", \"datasheet: WHICH\", "
      "\"paper: WHICH\", \"assumed: WHY\"");
  EXPECT_THAT(with("\"memory\"", "\"memory\" = \"assumed: \""), HasSubstr("\"assumed: \" is not a source"));
  EXPECT_EQ(with("\"memory\"", "\"cpus\" = 3"), "x.toml:24:10: sources.\"cpus\": expected a string, found an integer (3)");
}

}  // namespace
}  // namespace linebounce::sim
