// Groups between caches and homes: proved in small systems, and every row of theirs, broken on purpose, is noticed: by a broken
// promise, a row that never runs, or another number of states. LINEBOUNCE_ALL_MUTANTS breaks them all, else every
// kSampledInTrees-th.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "models/coherence/checker/tree/check_tree.hpp"
#include "tests/models/coherence/checker/mutants.hpp"
#include "tests/models/coherence/shipped.hpp"

namespace linebounce::test {
namespace {

constexpr std::size_t kSampledInTrees = 41;
constexpr std::size_t kPartsOfTrees = 4;

// Why each survives:
//   E to M, EO to MO: a Put that writes the home what it has already. After a GetM EO is right, too: its owner is M and will
//   not say PutE. E, "remove sender": nobody is in the set. SM_AD, "take data" dropped: an upgrade's data is what the group
//   has. "send Inv to sharers" dropped at the grant: what the members of a group of two do to each other shows beside another
//   group only, in a system of 2 groups of 2 caches.
const std::vector<std::string> kHarmless = {
    "group E Member_GetS [no_sharers]: to MO",        "group E Member_PutS: to M",
    "group E Member_PutS: without action 1",          "group E Member_PutE: to M",
    "group E Member_PutE: without action 1",          "group E Member_PutM: to M",
    "group E Member_PutM: without action 1",          "group EO Member_PutS: to MO",
    "group IM_A Inv_Ack [last_ack]: to EO",           "group IM_A Inv_Ack [last_ack]: without action 3",
    "group IM_AD Data [no_acks]: without action 4",   "group SM_AD Data [no_acks]: without action 1",
    "group SM_AD Data [no_acks]: without action 4",   "group SM_AD Data [acks]: without action 1",
    "group SM_A Inv_Ack [last_ack]: without action 3"};

TreeProtocols shipped_tree() {
  return {shipped_protocol("mesi_group"), shipped_protocol("mesi_directory")};
}

struct SmallTree {
  int groups, members;
  std::size_t states;  // without symmetry
  std::size_t symmetric;
};

class SmallTrees : public testing::TestWithParam<SmallTree> {};

TEST_P(SmallTrees, AreProved) {
  const SmallTree& tree = GetParam();
  for (const bool symmetry : {true, false}) {
    const TreeCheckResult result =
        check_tree(shipped_tree(), {.groups = tree.groups, .members = tree.members, .symmetry = symmetry});
    EXPECT_FALSE(result.violation) << result.violation->text;
    EXPECT_EQ(result.states, symmetry ? tree.symmetric : tree.states);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SmallTrees,
                         testing::Values(SmallTree{1, 1, 212, 106}, SmallTree{1, 2, 8548, 2199}, SmallTree{2, 1, 60610, 15204}),
                         [](const auto& tree) { return fmt::format("{}x{}", tree.param.groups, tree.param.members); });

class BrokenGroupRows : public testing::TestWithParam<std::size_t> {};

TEST_P(BrokenGroupRows, AreNoticedButForThoseThatDoNoHarm) {
  const TreeProtocols good = shipped_tree();
  const std::vector<TreeCheckOptions> systems = {{.groups = 1, .members = 2}, {.groups = 2, .members = 1}};
  std::vector<TreeCheckResult> good_results;
  for (const TreeCheckOptions& system : systems) good_results.push_back(check_tree(good, system));
  const std::vector<Mutant> mutants = mutants_of(good.group);
  const std::size_t step = kPartsOfTrees * (std::getenv("LINEBOUNCE_ALL_MUTANTS") != nullptr ? 1 : kSampledInTrees);
  std::size_t tried = 0, in_reach = 0;
  std::vector<std::string> survivors;
  for (std::size_t i = GetParam(); i < mutants.size(); i += step) {
    ++tried;
    // A row that these small systems never run can't be broken in them.
    const auto runs = [&](const TreeCheckResult& result) {
      return std::none_of(result.unreached.begin(), result.unreached.end(), [&](const UnreachedRow& row) {
        const std::size_t place = row.state * good.group.group.events.size() + row.event;
        return std::find(mutants[i].places.begin(), mutants[i].places.end(), place) != mutants[i].places.end();
      });
    };
    if (std::none_of(good_results.begin(), good_results.end(), runs)) continue;
    ++in_reach;
    bool noticed = false;
    for (std::size_t s = 0; s < systems.size() && !noticed; ++s) {
      const TreeCheckResult found = check_tree({mutants[i].of(good.group), good.directory}, systems[s]);
      noticed = found.violation || found.states != good_results[s].states ||
                found.unreached.size() != good_results[s].unreached.size();
    }
    if (!noticed) survivors.push_back(mutants[i].name);
  }
  fmt::print("{} of {} mutants noticed, of {} rows' mutants {} run in these systems\n", in_reach - survivors.size(), in_reach,
             tried, in_reach);
  EXPECT_THAT(survivors, testing::IsSubsetOf(kHarmless));
}

INSTANTIATE_TEST_SUITE_P(Groups, BrokenGroupRows, testing::Range<std::size_t>(0, kPartsOfTrees));

}  // namespace
}  // namespace linebounce::test
