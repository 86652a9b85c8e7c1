// Proves the shipped network protocols. Then breaks one thing at a time, which the checker must find.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "models/coherence/checker/network/check_network.hpp"
#include "models/coherence/checker/network/network_diagram.hpp"
#include "models/coherence/checker/network/prove_network.hpp"
#include "models/coherence/checker/network/system.hpp"
#include "tests/models/coherence/checker/mutants.hpp"
#include "tests/models/coherence/checker/network_systems.hpp"

namespace linebounce::test {
namespace {

using testing::HasSubstr;

std::string why_not(const NetworkProtocols& protocols, const NetworkProof& proof) {
  if (proof.violation()) return message_diagram(protocols, proof.systems.back(), *proof.violation());
  std::string text;
  for (const UnreachedRow& row : proof.unreached) text += fmt::format("never runs: line {}\n", row.source_line);
  return text;
}

class ShippedNetwork : public testing::TestWithParam<const char*> {
 protected:
  const NetworkProtocols protocols = shipped_network(GetParam());
};

TEST_P(ShippedNetwork, IsProved) {
  const NetworkProof proof = prove_network(protocols, default_systems(protocols));
  EXPECT_TRUE(proof.proved(protocols)) << why_not(protocols, proof);
  EXPECT_TRUE(proof.unreached.empty()) << why_not(protocols, proof);
  for (const NetworkCheckResult& result : proof.results) fmt::print("{}: {} states\n", GetParam(), result.states);
}

// Symmetry reduction changes neither the depth nor the verdict.
TEST_P(ShippedNetwork, IsJudgedAlikeWithAndWithoutSymmetry) {
  const int agents = protocols.node ? 2 : 3;
  const NetworkCheckResult with = check_network(protocols, {.agents = agents, .caches = 1, .symmetry = true});
  const NetworkCheckResult without = check_network(protocols, {.agents = agents, .caches = 1, .symmetry = false});
  EXPECT_FALSE(with.violation || without.violation);
  EXPECT_EQ(with.unreached.size(), without.unreached.size());
  EXPECT_EQ(with.most_messages, without.most_messages);
  // Symmetry reduction merges at most all orders of the agents and both names of the values.
  EXPECT_LT(with.states, without.states);
  EXPECT_GE(with.states * (agents == 2 ? 2 : 6) * 2, without.states);
}

// A row that never ran is reported as dead only if the systems were large enough: a third agent causes situations that two
// can't, and so does a second cache beside another.
TEST(NetworkProof, KnowsWhichSystemsAreLargeEnoughForEveryRow) {
  const auto enough = [](const char* name, std::vector<NetworkCheckOptions> systems) {
    NetworkProof proof;
    proof.systems = std::move(systems);
    return proof.all_rows_can_run(shipped_network(name));
  };
  EXPECT_TRUE(enough("mesi_directory", {{.agents = 3}}));
  EXPECT_FALSE(enough("mesi_directory", {{.agents = 2}}));
  EXPECT_TRUE(enough("mesi_node", {{.agents = 2, .caches = 2}, {.agents = 3, .caches = 1}}));
  EXPECT_FALSE(enough("mesi_node", {{.agents = 2, .caches = 2}}));
  EXPECT_FALSE(enough("mesi_node", {{.agents = 3, .caches = 1}}));
}

INSTANTIATE_TEST_SUITE_P(Directories, ShippedNetwork, testing::ValuesIn(kShippedDirectories),
                         [](const auto& instance) { return std::string(instance.param); });
INSTANTIATE_TEST_SUITE_P(Nodes, ShippedNetwork, testing::ValuesIn(kShippedNodes),
                         [](const auto& instance) { return std::string(instance.param); });

// A node's table may be combined with a bus protocol other than the one that its file names.
TEST(NodeOverMigratoryReads, IsProved) {
  const Protocol bus = shipped_protocol("mesi_migratory_snoop");
  const Protocol directory = shipped_protocol("mesi_directory");
  const NetworkProtocols protocols{directory, parse_node_protocol(shipped_files("mesi_node"), bus, directory), bus};
  const NetworkProof proof = prove_network(protocols, default_systems(protocols));
  EXPECT_TRUE(proof.proved(protocols)) << why_not(protocols, proof);
  EXPECT_TRUE(proof.unreached.empty()) << why_not(protocols, proof);
}

class NetworkChecker : public testing::Test {
 protected:
  Row& row(ControllerTable& table, const std::string& state, const std::string& event) {
    const auto in = std::find_if(table.states.begin(), table.states.end(), [&](const StateInfo& s) { return s.name == state; });
    const auto on = std::find(table.events.begin(), table.events.end(), event);
    if (in == table.states.end() || on == table.events.end()) throw std::out_of_range(state + ", " + event);
    return table.rows[static_cast<std::size_t>(in - table.states.begin()) * table.events.size() +
                      static_cast<std::size_t>(on - table.events.begin())];
  }
  StateId state(const ControllerTable& table, const std::string& name) {
    const auto in = std::find_if(table.states.begin(), table.states.end(), [&](const StateInfo& s) { return s.name == name; });
    return static_cast<StateId>(in - table.states.begin());
  }
  // The first violation; the test fails if there is none.
  static NetworkViolation violation(const NetworkProtocols& protocols, const NetworkCheckOptions& options) {
    const NetworkCheckResult result = check_network(protocols, options);
    EXPECT_TRUE(result.violation);
    return result.violation.value_or(NetworkViolation{});
  }

  NetworkProtocols directory = shipped_network("mesi_directory");
  NetworkProtocols nodes = shipped_network("mesi_node");
};

TEST_F(NetworkChecker, FindsAReaderThatIsNotToldOfAWriter) {
  drop(row(directory.directory.directory, "S", "GetM"), Verb::send_sharers);
  EXPECT_EQ(violation(directory, {.agents = 2}).property, Property::single_writer);
}

TEST_F(NetworkChecker, FindsThatAnOldOwnerIsForgottenAsASharer) {
  drop(row(directory.directory.directory, "EM", "GetS"), Verb::add_owner);
  EXPECT_EQ(violation(directory, {.agents = 2}).property, Property::single_writer);
}

TEST_F(NetworkChecker, FindsDataThatDoesNotComeHome) {
  Row& answer = row(directory.directory.cache, "M", "Fwd_GetS");
  drop(answer, Verb::send_home);
  EXPECT_EQ(violation(directory, {.agents = 2}).property, Property::no_deadlock);
}

TEST_F(NetworkChecker, FindsAWriteThatIsDoneBeforeAllHaveAnswered) {
  Row& early = row(directory.directory.cache, "IM_A", "Inv_Ack [more_acks]");
  early = row(directory.directory.cache, "IM_A", "Inv_Ack [last_ack]");
  EXPECT_FALSE(check_network(directory, {.agents = 2}).violation);  // two acknowledgements need three caches
  EXPECT_THAT(violation(directory, {.agents = 3}).property, testing::AnyOf(Property::single_writer, Property::impossible_pair));
}

TEST_F(NetworkChecker, FindsAnOwnerThatTheHomeDoesNotKnow) {
  drop(row(directory.directory.directory, "I", "GetM"), Verb::set_owner);
  const NetworkViolation found = violation(directory, {.agents = 2});
  EXPECT_EQ(found.property, Property::accounted);
  EXPECT_THAT(found.text, HasSubstr("speaks to an owner or requestor, but none is known"));
}

TEST_F(NetworkChecker, FindsAForwardThatWaitsForEver) {
  Row& stalled = row(directory.directory.cache, "MI_A", "Fwd_GetM");
  stalled = row(directory.directory.cache, "IM_AD", "Fwd_GetM");
  stalled.next = state(directory.directory.cache, "MI_A");
  EXPECT_EQ(violation(directory, {.agents = 2}).property, Property::no_deadlock);
}

TEST_F(NetworkChecker, FindsANodeThatGivesARightItDoesNotHave) {
  drop(row(nodes.node->node, "S", "GetS [clean]"), Verb::assert_shared);
  const NetworkViolation found = violation(nodes, {.agents = 2, .caches = 2});
  EXPECT_EQ(found.property, Property::single_writer);
  EXPECT_THAT(found.text, testing::ContainsRegex("cache [01]\\.[01] \\(in E\\) can write while cache"));
  EXPECT_EQ(found.steps.size(), 18U);
}

TEST_F(NetworkChecker, FindsWhatNeedsThreeNodes) {
  row(nodes.node->node, "SMI_B", "Fwd_GetS").impossible = true;
  EXPECT_FALSE(check_network(nodes, {.agents = 2, .caches = 2}).violation);
  const NetworkViolation found = violation(nodes, {.agents = 3, .caches = 1});
  EXPECT_EQ(found.property, Property::impossible_pair);
  EXPECT_THAT(found.text, HasSubstr("mesi_node.md:"));
  EXPECT_THAT(found.text, HasSubstr("node: state SMI_B, event Fwd_GetS"));
}

TEST_F(NetworkChecker, BlamesTheFileOfTheNodeForARowInMemorysPlace) {
  row(nodes.node->node, "S", "GetS [clean]").impossible = true;
  EXPECT_THAT(violation(nodes, {.agents = 2, .caches = 2}).text, HasSubstr("mesi_node.md:"));
}

// In this broken row the node takes data although the recall found no newer data, so none was sent.
TEST_F(NetworkChecker, FindsDataTakenThatWasNeverSent) {
  row(nodes.node->node, "MS_B", "Own_GetS [clean]") = row(nodes.node->node, "MS_B", "Own_GetS [owned]");
  EXPECT_EQ(violation(nodes, {.agents = 2}).property, Property::data_arrives);
}

TEST_F(NetworkChecker, FindsANodeThatABroadcastLeavesOut) {
  NetworkProtocols broadcast = shipped_network("moesi_broadcast_node");
  drop(row(broadcast.directory.directory, "I", "GetM"), Verb::send_others);
  EXPECT_EQ(violation(broadcast, {.agents = 2}).property, Property::single_writer);
}

TEST_F(NetworkChecker, FindsAnOwnerThatTheHomeForgets) {
  NetworkProtocols filter = shipped_network("moesi_node_filter");
  Row& evict = row(filter.directory.directory, "EM", "Evict [no_sharers]");
  drop(evict, Verb::send_owner);
  evict.next = state(filter.directory.directory, "I");
  EXPECT_TRUE(check_network(filter, {.agents = 2}).violation);
}

TEST_F(NetworkChecker, FindsNoShorterSequenceWithoutSymmetry) {
  const std::vector<Mutant> mutants = mutants_of(directory.directory);
  for (std::size_t i = 0; i < mutants.size(); i += 41) {
    const NetworkProtocols mutant = {.directory = mutants[i].of(directory.directory)};
    const NetworkCheckResult with = check_network(mutant, {.agents = 3, .symmetry = true});
    const NetworkCheckResult without = check_network(mutant, {.agents = 3, .symmetry = false});
    ASSERT_EQ(with.violation.has_value(), without.violation.has_value()) << mutants[i].name;
    if (!with.violation) continue;
    EXPECT_EQ(with.violation->steps.size(), without.violation->steps.size()) << mutants[i].name;
  }
}

// Agents keep their names from first to last step, although symmetry reduction renames them after every step.
TEST_F(NetworkChecker, ReplaysToTheSameViolation) {
  const std::vector<Mutant> mutants = mutants_of(*nodes.node);
  for (std::size_t i = 0; i < mutants.size(); i += 211) {
    NetworkProtocols mutant = nodes;
    mutant.node = mutants[i].of(*nodes.node);
    const NetworkCheckOptions options{.agents = 2, .caches = 1};
    const NetworkCheckResult result = check_network(mutant, options);
    if (!result.violation) continue;
    const auto steps = replay(mutant, options, *result.violation);
    ASSERT_EQ(steps.size(), result.violation->steps.size()) << mutants[i].name;
    // A message that arrives spans at least two columns: the replay knows its sender, which is another column than the
    // receiver.
    for (const ReplayedNetworkStep& shown : steps) {
      EXPECT_TRUE(shown.step.kind != NetworkStepKind::arrive || shown.first < shown.last) << mutants[i].name;
    }
  }
}

TEST_F(NetworkChecker, ShowsTheWayAsADiagram) {
  row(directory.directory.cache, "E", "Fwd_GetM").impossible = true;
  row(directory.directory.cache, "E", "Fwd_GetM").source_line = 7;
  const NetworkCheckOptions options{.agents = 2};
  EXPECT_EQ(message_diagram(directory, options, violation(directory, options)), R"(step  cache 0         cache 1         home
      I               I               I
      |               |               |
   1  Load            |               |
      I -> IS_D       |               |
      sends GetS      |               |
      |               |               |
   2  |               Store 0         |
      |               I -> IM_AD      |
      |               sends GetM      |
      |               |               |
   3  o-- GetS ----------------------->
      |               |               I -> EM
      |               |               sends DataE
      |               |               |
   4  <------------------ DataE 0 ----o
      IS_D -> E       |               |
      takes 0         |               |
      reads 0         |               |
      |               |               |
   5  |               o-- GetM ------->
      |               |               sends Fwd_GetM
      |               |               |
   6  <------------------ Fwd_GetM ---o
      for cache 1     |               |
      |               |               |
      E               IM_AD           EM

  Broken: nothing happens that the table calls impossible.
  mesi_directory.md:7: cache: state E, event Fwd_GetM: this pair is declared impossible, and it happened
)");
}

TEST_F(NetworkChecker, StopsAtItsMemoryLimitAndSaysSo) {
  try {
    check_network(nodes, {.agents = 3, .caches = 2, .memory_limit_mib = 1});
    FAIL() << "nothing was thrown";
  } catch (const CheckTooLarge& error) {
    EXPECT_THAT(error.what(), HasSubstr("nothing is proved"));
    EXPECT_THAT(error.what(), HasSubstr("1 MiB hold no more; try fewer nodes or caches"));
  }
}

TEST_F(NetworkChecker, RefusesABusThatSendsWords) {
  nodes.bus = shipped_protocol("dragon_snoop");
  EXPECT_THROW(check_network(nodes, {.agents = 2}), CheckTooLarge);
}

// The checker derives from the rows which values are live. A value that rows only set before they read it is not part of the
// state.
TEST_F(NetworkChecker, KnowsWhereAValueIsUsed) {
  const checker::CheckedSystem system(nodes, {.agents = 2, .caches = 1});
  const ControllerTable& node = nodes.node->node;
  for (const char* name : {"S", "E", "M", "IS_B", "MS_B", "MP_B", "MI_A"})
    EXPECT_TRUE(system.agent_live[state(node, name)].data) << name;
  for (const char* name : {"I", "IS_D", "IM_AD", "SM_AD", "SI_A", "II_A"})
    EXPECT_FALSE(system.agent_live[state(node, name)].data) << name;
  for (const char* name : {"MS_B", "MI_B", "SI_B", "SMI_B"})
    EXPECT_TRUE(system.agent_live[state(node, name)].requestor) << name;
  for (const char* name : {"I", "S", "M", "IM_AD", "SP_B"})
    EXPECT_FALSE(system.agent_live[state(node, name)].requestor) << name;
  const ControllerTable& home = nodes.directory.directory;
  EXPECT_TRUE(system.home_live[state(home, "EM")].owner);
}

}  // namespace
}  // namespace linebounce::test
