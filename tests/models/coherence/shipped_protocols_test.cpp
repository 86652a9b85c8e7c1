// The protocol files as they ship: every state that three caches can reach is visited, and every row is broken on purpose.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/models/coherence/explorer.hpp"

namespace linebounce::test {
namespace {

class ShippedProtocol : public testing::TestWithParam<const char*> {};

std::vector<std::string> rows_never_run(const ControllerTable& table, const std::vector<bool>& run) {
  std::vector<std::string> never;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (table.rows[i].impossible || run[i]) continue;
    never.push_back(table.states[i / table.events.size()].name + " " + table.events[i % table.events.size()]);
  }
  return never;
}

TEST_P(ShippedProtocol, KeepsItsInvariantsInEveryReachableState) {
  const Protocol protocol = shipped_protocol(GetParam());
  for (int caches = 1; caches <= kMaxCaches; ++caches) {
    const Exploration found = explore(protocol, caches);
    EXPECT_EQ(found.violation.value_or("none"), "none") << caches << " caches";
  }
}

TEST_P(ShippedProtocol, HasNoRowThatIsNeverRun) {
  const Protocol protocol = shipped_protocol(GetParam());
  const Exploration found = explore(protocol, kMaxCaches);
  EXPECT_THAT(rows_never_run(protocol.cache, found.cache_rows_run), testing::IsEmpty());
  EXPECT_THAT(rows_never_run(protocol.memory, found.memory_rows_run), testing::IsEmpty());
}

TEST_P(ShippedProtocol, ReachesTheSameStatesWhenCachesWithoutACopyAreNotAsked) {
  const Protocol protocol = shipped_protocol(GetParam());
  for (const Message& message : protocol.messages) EXPECT_TRUE(message.absent_ignores) << message.name;
  EXPECT_EQ(explore(protocol, kMaxCaches, true).states, explore(protocol, kMaxCaches, false).states);
}

INSTANTIATE_TEST_SUITE_P(Snooping, ShippedProtocol, testing::Values("msi_snoop", "mesi_snoop", "mesi_snoop_upgrade_retry"),
                         [](const auto& instance) { return std::string(instance.param); });

// One change of one row.
struct Mutant {
  std::string name;
  Protocol protocol;
};

void add_mutants_of_row(const Protocol& good, bool of_cache, std::size_t place, std::vector<Mutant>& mutants) {
  const ControllerTable& table = of_cache ? good.cache : good.memory;
  const Row& row = table.rows[place];
  if (row.impossible) return;
  const std::string name = fmt::format("{} {} {}", table.name, table.states[place / table.events.size()].name,
                                       table.events[place % table.events.size()]);
  const auto add = [&](const std::string& change, const Row& changed) {
    mutants.push_back({name + ": " + change, good});
    Protocol& protocol = mutants.back().protocol;
    (of_cache ? protocol.cache : protocol.memory).rows[place] = changed;
  };
  for (std::size_t next = 0; next < table.states.size(); ++next) {
    if (next == row.next) continue;
    Row changed = row;
    changed.next = static_cast<StateId>(next);
    add("to " + table.states[next].name, changed);
  }
  // An access that gets no answer doesn't even load, see parse_protocol_test.cpp.
  const bool of_processor = of_cache && place % table.events.size() <= kEvict;
  for (std::size_t dropped = 0; dropped < row.count && !(of_processor && row.count == 1); ++dropped) {
    Row changed = row;
    std::copy(row.actions.begin() + dropped + 1, row.actions.begin() + row.count, changed.actions.begin() + dropped);
    --changed.count;
    add(fmt::format("without action {}", dropped + 1), changed);
  }
  Row deleted = row;
  deleted.impossible = true;
  add("deleted", deleted);
}

std::vector<Mutant> mutants_of(const Protocol& good) {
  std::vector<Mutant> mutants;
  for (std::size_t i = 0; i < good.cache.rows.size(); ++i) add_mutants_of_row(good, true, i, mutants);
  for (std::size_t i = 0; i < good.memory.rows.size(); ++i) add_mutants_of_row(good, false, i, mutants);
  return mutants;
}

bool noticed(const Mutant& mutant, std::size_t states_of_good) {
  const Exploration found = explore(mutant.protocol, kMaxCaches);
  return found.violation || found.states != states_of_good ||
         !rows_never_run(mutant.protocol.cache, found.cache_rows_run).empty() ||
         !rows_never_run(mutant.protocol.memory, found.memory_rows_run).empty();
}

// Each possible row with every other next state, without each of its actions, and deleted: noticed by a broken invariant, a row
// that never runs, or another number of states. Those that survive are listed, because they are correct protocols too.
std::vector<std::string> survivors_of(const std::string& name) {
  const Protocol good = shipped_protocol(name);
  const std::size_t states = explore(good, kMaxCaches).states;
  std::vector<std::string> survivors;
  for (const Mutant& mutant : mutants_of(good)) {
    if (!noticed(mutant, states)) survivors.push_back(mutant.name);
  }
  return survivors;
}

// Reasons why a mutant is right.
//   "to E": the access that waits is a store; it runs at once and takes E to M, as any store does.
//   "E ... to M": the same rights; memory is owed a write-back of what it has already.
//   "E ... to S": a right is given up that was not needed.
//   "SM_AD ... to IM_AD, IU_A": a good copy is dropped, and the request fetches it again.
// In each of them the wrong state is reached beside the same other states in the good protocol too, so their number is the
// same.
TEST(BrokenRows, OfMsiAreNoticedButForThoseThatDoNoHarm) {
  EXPECT_THAT(survivors_of("msi_snoop"),
              testing::UnorderedElementsAre("cache SM_AD Other_GetS: to IM_AD", "cache SM_AD Other_PutM: to IM_AD"));
}

TEST(BrokenRows, OfMesiAreNoticedButForThoseThatDoNoHarm) {
  EXPECT_THAT(survivors_of("mesi_snoop"), testing::UnorderedElementsAre("cache E Other_PutM: to S", "cache E Other_PutM: to M",
                                                                        "cache SM_AD Other_PutM: to IM_AD",
                                                                        "cache SM_AD Own_GetM: to E", "cache IM_D Data: to E"));
}

TEST(BrokenRows, OfMesiWithRetriedUpgradesAreNoticedButForThoseThatDoNoHarm) {
  EXPECT_THAT(survivors_of("mesi_snoop_upgrade_retry"),
              testing::UnorderedElementsAre("cache E Other_Upgrade: to M", "cache E Other_PutM: to S",
                                            "cache E Other_PutM: to M", "cache SM_AD Other_PutM: to IU_A",
                                            "cache SM_AD Own_Upgrade: to E", "cache IM_D Data: to E"));
}

}  // namespace
}  // namespace linebounce::test
