#include "commands/check/mutation.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "sim/config/machine_file.hpp"

namespace linebounce::sim {
namespace {

constexpr int kRounds = 60;
constexpr std::int64_t kReferences = 20'000;

std::map<std::string, std::set<std::string>> values_in_rounds(const RandomBase& base) {
  std::map<std::string, std::set<std::string>> values;
  for (int round = 0; round < kRounds; ++round) {
    for (const CaseSetting& setting : random_case(base, 1, round, kReferences).settings) {
      values[setting.path].insert(plain_text(setting.value));
    }
  }
  return values;
}

TEST(Mutation, IsTheSameForTheSameSeedAndRound) {
  const RandomBase base = random_base("numaq_16way", {});
  const auto text = [&base](std::uint64_t seed, std::int64_t round) {
    return experiment_text(base, random_case(base, seed, round, kReferences), "name", "title");
  };
  EXPECT_EQ(text(1, 3), text(1, 3));
  EXPECT_NE(text(1, 3), text(1, 4));
  EXPECT_NE(text(1, 3), text(2, 3));
}

TEST(Mutation, ChangesEveryPartOfEveryMachine) {
  for (const std::string& machine : machine_names()) {
    const RandomBase base = random_base(machine, {});
    const auto values = values_in_rounds(base);
    std::vector<std::string> expected = {"machine.cpus",
                                         "machine.cpu.consistency",
                                         "machine.cpu.outstanding_misses",
                                         "machine.cpu.clock_mhz",
                                         "machine.bus.snoop_clocks",
                                         "machine.bus.places",
                                         "machine.memory.latency_ns",
                                         "workload.shared_lines",
                                         "machine.footprint.tlb_entries"};
    for (const CacheSpec& cache : base.spec.caches) expected.push_back("machine.cache." + cache.name + ".ways");
    if (base.spec.has_nodes()) {
      expected.insert(expected.end(), {"machine.memory.nodes", "machine.memory.placement", "machine.node.latency_ns",
                                       "machine.node.cache_size_kib"});
      // Links exist only between nodes that the file names.
      const bool links = base.spec.network.topology == Topology::links;
      if (!links) expected.insert(expected.end(), {"machine.nodes", "machine.network.topology"});
    }
    // If links fix the number of nodes and each CPU has a bus of its own, no two CPUs can share a core.
    const bool fixed =
        base.spec.network.topology == Topology::links && base.spec.cpus_present == base.spec.nodes * base.spec.buses_per_node;
    if (!fixed) expected.emplace_back("machine.cpu.threads_per_core");
    for (const std::string& path : expected) {
      const auto found = values.find(path);
      ASSERT_NE(found, values.end()) << machine << " " << path;
      EXPECT_GT(found->second.size(), 1U) << machine << " " << path;
    }
  }
}

TEST(Mutation, MakesCachesOfAFewLinesInEveryRound) {
  const RandomBase base = random_base("itanium2_two_node_16way", {});
  for (int round = 0; round < kRounds; ++round) {
    const MachineSpec machine = input_of(base, random_case(base, 1, round, kReferences)).machine;
    for (const CacheSpec& cache : machine.caches) EXPECT_LE(cache.size_kib, 2);
  }
}

TEST(Mutation, KeepsTheProtocolsAndWhatTheUserHasSet) {
  const RandomBase base = random_base("x445_8way", {{"machine.memory.latency_ns", "77"}});
  for (int round = 0; round < kRounds; ++round) {
    const MachineSpec machine = input_of(base, random_case(base, 1, round, kReferences)).machine;
    EXPECT_EQ(machine.memory.latency_ns, 77);
    EXPECT_EQ(machine.bus.protocol, base.spec.bus.protocol);
    EXPECT_EQ(machine.node.protocol, base.spec.node.protocol);
    EXPECT_EQ(machine.directory.protocol, base.spec.directory.protocol);
  }
}

TEST(Mutation, SharesTheOperationsAmongTheCpus) {
  const RandomBase base = random_base("p3_xeon_4way", {{"machine.cpus", "2"}});
  EXPECT_EQ(random_case(base, 1, 0, kReferences).operations, kReferences / 2);
}

}  // namespace
}  // namespace linebounce::sim
