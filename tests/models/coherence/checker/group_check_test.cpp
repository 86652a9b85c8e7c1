// Tests groups between caches and homes. They are proved in small systems. Then every row of their tables is broken. The
// checker must notice this: by a broken property, a row that never runs, or another number of states. LINEBOUNCE_ALL_MUTANTS
// breaks all rows, else only every kSampledInTrees-th is broken.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include "models/coherence/checker/network/check_network.hpp"
#include "models/coherence/checker/network/prove_network.hpp"
#include "tests/models/coherence/checker/mutants.hpp"
#include "tests/models/coherence/shipped.hpp"

namespace linebounce::test {
namespace {

constexpr std::size_t kSampledInTrees = 41;
constexpr std::size_t kPartsOfTrees = 4;
constexpr std::size_t kSampledInTwoAndOne = 307;

// Why each survivor is correct:
// - MO for EO, MX for EX, MP_D for EP_D, M for E: a later Put writes data to the home that the home has already. After a
//   GetM, EO is right as well: its owner is in M and will not send PutE.
// - EX for EO, MX for MO: the group's cache drops its copy early. EO for EX: it keeps a copy longer.
// - E, "remove sender" dropped: the set of sharers is empty.
// - SM_AD, "take data" dropped: an upgrade's data is what the group's cache has.
// - SX for S and S for SX, "take data" dropped in SS_D: the group's cache drops or keeps a copy of a line that nobody writes.
// - IM_A and IM_AD, "send Inv to sharers" dropped: no member has a copy.
// - SM_A for IM_A: they differ only in whether members may read, and no member reads.
// `larger`: mutants that are noticed only in a larger system. Interactions of two members beside another group show in 2
// groups of 2 caches. A reader beside an owner and a writer shows in 3 groups of 1 or in a group of 3.
// `in_two_and_one`: survivors among the rows that only run with a group of two beside a group of one; one in eight of their
// mutants has been tried.
struct Larger {
  std::string mutant;
  NetworkCheckOptions size;
};
constexpr NetworkCheckOptions kTwoOfTwo = {.agents = 2, .caches = 2};
constexpr NetworkCheckOptions kThreeOfOne = {.agents = 3, .caches = 1};
constexpr NetworkCheckOptions kOneOfThree = {.agents = 1, .caches = 3};
struct TreeSurvivors {
  const char* protocol;
  std::vector<std::string> expected;
  std::vector<Larger> larger;
  std::vector<std::string> in_two_and_one = {};
};
void PrintTo(const TreeSurvivors& survivors, std::ostream* out) {
  *out << survivors.protocol;
}
const std::vector<Larger> kInvOfUpgrade = {{"group SM_AD Data [no_acks]: without action 4", kTwoOfTwo},
                                           {"group SM_A Inv_Ack [last_ack]: without action 3", kTwoOfTwo}};
const std::vector<std::string> kNoReaders = {"group IM_A Member_PutS: to SM_A", "group IM_A Member_PutE: to SM_A",
                                             "group IM_A Member_PutM: to SM_A"};
const std::vector<std::string> kNoReadersOrKept = {kNoReaders[0], kNoReaders[1], kNoReaders[2],
                                                   "group SX Member_PutS [more_sharers]: to S"};
const TreeSurvivors kTreeSurvivors[] = {
    {"mesi_group",
     {"group E Member_GetS [no_sharers]: to MO", "group E Member_PutS: to M", "group E Member_PutS: without action 1",
      "group E Member_PutE: to M", "group E Member_PutE: without action 1", "group E Member_PutM: to M",
      "group E Member_PutM: without action 1", "group EO Member_PutS: to MO", "group IM_A Inv_Ack [last_ack]: to EO",
      "group IM_A Inv_Ack [last_ack]: without action 3", "group IM_AD Data [no_acks]: without action 4",
      "group SM_AD Data [no_acks]: without action 1", "group SM_AD Data [acks]: without action 1"},
     kInvOfUpgrade,
     kNoReaders},
    {"mesi_group_non_inclusive",
     {"group S Member_PutE: to SX",
      "group S Member_PutM: to SX",
      "group SX Member_PutE: to S",
      "group SX Member_PutM: to S",
      "group E Member_PutS: to M",
      "group E Member_PutS: without action 1",
      "group E Member_PutE: to M",
      "group E Member_PutE: without action 1",
      "group E Member_PutM: to M",
      "group E Member_PutM: without action 1",
      "group EO Member_GetM: to MX",
      "group EO Member_PutS: to MO",
      "group EO Member_PutS: to EX",
      "group EO Member_PutS: to MX",
      "group EO Member_PutE [from_other]: to MO",
      "group EO Member_PutE [from_other]: to EX",
      "group EO Member_PutE [from_other]: to MX",
      "group EO Member_PutM [from_other]: to MO",
      "group EO Member_PutM [from_other]: to EX",
      "group EO Member_PutM [from_other]: to MX",
      "group EO Evict: to MX",
      "group MO Member_PutS: to MX",
      "group MO Member_PutE [from_other]: to MX",
      "group MO Member_PutM [from_other]: to MX",
      "group EX Member_PutS: to MX",
      "group IS_D DataE: to EO",
      "group IM_AD Data [no_acks]: without action 4",
      "group IM_A Inv_Ack [last_ack]: without action 3",
      "group SM_AD Data [no_acks]: without action 1",
      "group SM_AD Data [acks]: without action 1",
      "group SS_D Data: to SX",
      "group SS_D Data: without action 1",
      "group ISI_D DataE: to EO",
      "group ISI_D DataE: to MO",
      "group ISI_D DataE: to MX",
      "group EP_D Member_PutS: to MP_D",
      "group EP_D Member_PutE: to MP_D",
      "group EP_D Member_PutM: to MP_D"},
     kInvOfUpgrade,
     kNoReadersOrKept},
    {"mesi_group_exclusive",
     {"group S Member_PutE: to SX",
      "group S Member_PutM: to SX",
      "group SX Member_PutE: to S",
      "group SX Member_PutM: to S",
      "group E Member_GetS [no_sharers]: to MX",
      "group E Member_PutS: to M",
      "group E Member_PutS: without action 1",
      "group E Member_PutE: to M",
      "group E Member_PutE: without action 1",
      "group E Member_PutM: to M",
      "group E Member_PutM: without action 1",
      "group EX Member_PutS: to MX",
      "group IM_AD Data [no_acks]: without action 4",
      "group IM_A Inv_Ack [last_ack]: without action 3",
      "group SM_AD Data [no_acks]: without action 1",
      "group SM_AD Data [acks]: without action 1",
      "group SS_D Data: to SX",
      "group SS_D Data: without action 1",
      "group ISI_D DataE: to MX",
      "group EP_D Member_PutS: to MP_D",
      "group EP_D Member_PutE: to MP_D",
      "group EP_D Member_PutM: to MP_D"},
     kInvOfUpgrade,
     kNoReadersOrKept},
    {"moesi_group",
     {"group E Member_GetS [no_sharers]: to MO", "group E Member_PutS: to M", "group E Member_PutE [from_other]: to M",
      "group E Member_PutM [from_other]: to M", "group EO Member_PutS: to MO", "group IM_AD Data [no_acks]: without action 4",
      "group SM_AD Data [no_acks]: without action 1", "group SM_AD Data [acks]: without action 1",
      "group SM_AD DataO: without action 1"},
     {{"group S Member_GetM [from_other]: without action 1", kTwoOfTwo},
      {"group SM_AD Data [no_acks]: without action 4", kTwoOfTwo},
      {"group IM_A Inv_Ack [last_ack]: without action 3", kTwoOfTwo},
      {"group IM_C Acks [no_acks]: without action 3", kTwoOfTwo},
      {"group IM_D DataO [no_acks]: without action 3", kTwoOfTwo},
      {"group OM_AC Acks [no_acks]: without action 3", kTwoOfTwo},
      {"group OwM_AC Acks [no_acks]: without action 3", kTwoOfTwo},
      {"group OwM_AC Acks [no_acks]: without action 4", kTwoOfTwo},
      {"group OwM_A Inv_Ack [last_ack]: without action 3", kTwoOfTwo},
      {"group OwM_A Inv_Ack [last_ack]: without action 4", kTwoOfTwo},
      {"group OM_AC Inv_Ack: to IM_C", kThreeOfOne},
      {"group IM_AD Acks: without action 1", kThreeOfOne},
      {"group SM_AD Acks: without action 1", kThreeOfOne},
      {"group IM_C Acks [no_acks]: without action 1", kThreeOfOne},
      {"group OO Fwd_GetM [no_sharers]: without action 1", kThreeOfOne},
      {"group OwM_AC Fwd_GetM: without action 1", kThreeOfOne},
      {"group XO Member_GetM [from_other]: without action 3", kOneOfThree}},
     {}},
};

NetworkProtocols shipped_tree(const std::string& group) {
  const Protocol protocol = shipped_protocol(group);
  return {.directory = shipped_protocol(protocol.directory_partner), .group = protocol};
}

// Two members of one group and two groups must meet in one system: no two smaller systems make up for it.
TEST(NetworkProof, OfGroupsNeedsTwoGroupsOfTwo) {
  const NetworkProtocols tree = shipped_tree("mesi_group");
  NetworkProof proof;
  proof.systems = {kOneOfThree, kThreeOfOne};
  EXPECT_FALSE(proof.all_rows_can_run(tree));
  proof.systems.push_back(kTwoOfTwo);
  EXPECT_TRUE(proof.all_rows_can_run(tree));
}

struct SmallTree {
  const char* protocol;
  int groups, members;
  std::size_t states;  // without symmetry reduction
  std::size_t symmetric;
};
void PrintTo(const SmallTree& tree, std::ostream* out) {
  *out << fmt::format("{} {}x{}", tree.protocol, tree.groups, tree.members);
}

class SmallTrees : public testing::TestWithParam<SmallTree> {};

TEST_P(SmallTrees, AreProved) {
  const SmallTree& tree = GetParam();
  for (const bool symmetry : {true, false}) {
    const NetworkCheckResult result =
        check_network(shipped_tree(tree.protocol), {.agents = tree.groups, .caches = tree.members, .symmetry = symmetry});
    EXPECT_FALSE(result.violation) << result.violation->text;
    EXPECT_EQ(result.states, symmetry ? tree.symmetric : tree.states);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, SmallTrees,
    testing::Values(SmallTree{"mesi_group", 1, 1, 212, 106}, SmallTree{"mesi_group", 1, 2, 8548, 2199},
                    SmallTree{"mesi_group", 2, 1, 60610, 15204}, SmallTree{"mesi_group_non_inclusive", 1, 1, 264, 132},
                    SmallTree{"mesi_group_non_inclusive", 1, 2, 10112, 2579},
                    SmallTree{"mesi_group_non_inclusive", 2, 1, 82526, 20687},
                    SmallTree{"mesi_group_exclusive", 1, 1, 206, 103}, SmallTree{"mesi_group_exclusive", 1, 2, 7980, 2042},
                    SmallTree{"mesi_group_exclusive", 2, 1, 62650, 15717}, SmallTree{"moesi_group", 1, 1, 212, 106},
                    SmallTree{"moesi_group", 1, 2, 12408, 3165}, SmallTree{"moesi_group", 2, 1, 83698, 20955}),
    [](const auto& tree) { return fmt::format("{}_{}x{}", tree.param.protocol, tree.param.groups, tree.param.members); });

struct TreePart {
  const TreeSurvivors* survivors;
  std::size_t number;
};
void PrintTo(const TreePart& part, std::ostream* out) {
  *out << part.survivors->protocol << ", part " << part.number;
}

std::vector<TreePart> all_tree_parts() {
  std::vector<TreePart> parts;
  for (const TreeSurvivors& survivors : kTreeSurvivors) {
    for (std::size_t part = 0; part < kPartsOfTrees; ++part) parts.push_back({&survivors, part});
  }
  return parts;
}

// True if one of the mutant's rows runs in the system; a row that never runs can't be broken there.
bool runs_in(const NetworkCheckResult& result, const Mutant& mutant, const ControllerTable& group) {
  return std::none_of(result.unreached.begin(), result.unreached.end(), [&](const UnreachedRow& row) {
    const std::size_t place = row.state * group.events.size() + row.event;
    return std::find(mutant.places.begin(), mutant.places.end(), place) != mutant.places.end();
  });
}

// A system with correct tables, and what the checker finds there. A mutant is noticed if the checker finds something else.
struct GoodTree {
  const NetworkProtocols& good;
  NetworkCheckOptions size;
  NetworkCheckResult result = check_network(good, size);

  [[nodiscard]] bool runs(const Mutant& mutant) const { return runs_in(result, mutant, good.group->group); }
  [[nodiscard]] bool notices(const Mutant& mutant) const {
    const NetworkCheckResult found = check_network({.directory = good.directory, .group = mutant.of(*good.group)}, size);
    return found.violation || found.states != result.states || found.unreached.size() != result.unreached.size();
  }
};

std::vector<GoodTree> small_trees(const NetworkProtocols& good) {
  return {{good, {.agents = 1, .caches = 2}}, {good, {.agents = 2, .caches = 1}}};
}

bool run_in_any(const std::vector<GoodTree>& trees, const Mutant& mutant) {
  return std::any_of(trees.begin(), trees.end(), [&](const GoodTree& tree) { return tree.runs(mutant); });
}

class BrokenGroupRows : public testing::TestWithParam<TreePart> {};

TEST_P(BrokenGroupRows, AreNoticedButForThoseThatDoNoHarm) {
  const NetworkProtocols good = shipped_tree(GetParam().survivors->protocol);
  const std::vector<GoodTree> trees = small_trees(good);
  const std::vector<Mutant> mutants = mutants_of(*good.group);
  const std::size_t step = kPartsOfTrees * (std::getenv("LINEBOUNCE_ALL_MUTANTS") != nullptr ? 1 : kSampledInTrees);
  std::size_t tried = 0, in_reach = 0;
  std::vector<std::string> survivors;
  for (std::size_t i = GetParam().number; i < mutants.size(); i += step) {
    ++tried;
    if (!run_in_any(trees, mutants[i])) continue;
    ++in_reach;
    const bool noticed =
        std::any_of(trees.begin(), trees.end(), [&](const GoodTree& tree) { return tree.notices(mutants[i]); });
    const auto is_this = [&](const Larger& larger) { return larger.mutant == mutants[i].name; };
    const std::vector<Larger>& larger = GetParam().survivors->larger;
    if (!noticed && std::none_of(larger.begin(), larger.end(), is_this)) survivors.push_back(mutants[i].name);
  }
  fmt::print("{} of {} mutants noticed, of {} rows' mutants {} run in these systems\n", in_reach - survivors.size(), in_reach,
             tried, in_reach);
  EXPECT_THAT(survivors, testing::IsSubsetOf(GetParam().survivors->expected));
}

INSTANTIATE_TEST_SUITE_P(Groups, BrokenGroupRows, testing::ValuesIn(all_tree_parts()));

class RowsOfTwoAndOne : public testing::TestWithParam<TreeSurvivors> {};

// Nearly all rows that never run in small_trees() run in a system with a group of two and a group of one.
TEST_P(RowsOfTwoAndOne, AreNoticedButForThoseThatDoNoHarm) {
  const NetworkProtocols good = shipped_tree(GetParam().protocol);
  const std::vector<GoodTree> small = small_trees(good);
  const GoodTree larger{good, {.agents = 2, .caches = 2, .last_caches = 1}};
  const std::vector<Mutant> mutants = mutants_of(*good.group);
  const std::size_t step = std::getenv("LINEBOUNCE_ALL_MUTANTS") != nullptr ? 1 : kSampledInTwoAndOne;
  std::size_t tried = 0;
  std::vector<std::string> survivors;
  for (std::size_t i = 0; i < mutants.size(); i += step) {
    if (run_in_any(small, mutants[i]) || !larger.runs(mutants[i])) continue;
    ++tried;
    if (!larger.notices(mutants[i])) survivors.push_back(mutants[i].name);
  }
  fmt::print("{} of {} mutants noticed\n", tried - survivors.size(), tried);
  EXPECT_GT(tried, 0U);
  EXPECT_THAT(survivors, testing::IsSubsetOf(GetParam().in_two_and_one));
}

INSTANTIATE_TEST_SUITE_P(Groups, RowsOfTwoAndOne, testing::ValuesIn(kTreeSurvivors),
                         [](const auto& tree) { return std::string(tree.param.protocol); });

class RowsBetweenGroups : public testing::TestWithParam<TreeSurvivors> {};

TEST_P(RowsBetweenGroups, BrokenOnPurposeAreNoticedInALargerSystem) {
  const NetworkProtocols good = shipped_tree(GetParam().protocol);
  const std::vector<Mutant> mutants = mutants_of(*good.group);
  const std::vector<Larger>& larger = GetParam().larger;
  const std::size_t step = std::getenv("LINEBOUNCE_ALL_MUTANTS") != nullptr ? 1 : (larger.size() + 2) / 3;
  for (std::size_t i = 0; i < larger.size(); i += step) {
    const auto mutant = std::find_if(mutants.begin(), mutants.end(),
                                     [&](const Mutant& candidate) { return candidate.name == larger[i].mutant; });
    ASSERT_NE(mutant, mutants.end()) << larger[i].mutant;
    const NetworkCheckResult found =
        check_network({.directory = good.directory, .group = mutant->of(*good.group)}, larger[i].size);
    EXPECT_TRUE(found.violation) << larger[i].mutant << ": " << found.states << " states";
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, RowsBetweenGroups, testing::ValuesIn(kTreeSurvivors),
                         [](const auto& tree) { return std::string(tree.param.protocol); });

}  // namespace
}  // namespace linebounce::test
