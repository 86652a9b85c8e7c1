// The shipped protocol files are proved.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "models/coherence/checker/check_protocol.hpp"
#include "models/coherence/checker/counterexample.hpp"
#include "tests/models/coherence/shipped.hpp"

namespace linebounce::test {
namespace {

class ShippedProtocol : public testing::TestWithParam<const char*> {
 protected:
  const Protocol protocol = shipped_protocol(GetParam());
};

TEST_P(ShippedProtocol, IsProvedForUpToFourCaches) {
  for (int caches = 1; caches <= 4; ++caches) {
    const CheckOptions options{.caches = caches};
    const CheckResult result = check_protocol(protocol, options);
    EXPECT_TRUE(result.proved(options)) << caches << " caches, " << result.unreached.size() << " rows never run\n"
                                        << (result.violation ? message_diagram(protocol, options, *result.violation) : "");
  }
}

TEST_P(ShippedProtocol, IsJudgedAlikeWithAndWithoutSymmetry) {
  const CheckResult with = check_protocol(protocol, {.caches = 3, .symmetry = true});
  const CheckResult without = check_protocol(protocol, {.caches = 3, .symmetry = false});
  EXPECT_EQ(with.depth, without.depth);  // Symmetry reduction does not change how many steps a state is away.
  EXPECT_TRUE(without.unreached.empty());
  EXPECT_LT(with.states, without.states);
  EXPECT_GE(with.states * 6, without.states);  // Symmetry reduction merges at most all orders of the three caches.
}

// The simulator asks only caches with a copy, but the checker asks all of them.
TEST_P(ShippedProtocol, ReachesTheSameStatesWhenCachesWithoutACopyAreNotAsked) {
  for (const Message& message : protocol.messages) EXPECT_TRUE(message.absent_ignores) << message.name;
  EXPECT_EQ(check_protocol(protocol, {.ask_absent = false}).states, check_protocol(protocol, {}).states);
}

INSTANTIATE_TEST_SUITE_P(Snooping, ShippedProtocol, testing::ValuesIn(kShippedProtocols),
                         [](const auto& instance) { return std::string(instance.param); });
INSTANTIATE_TEST_SUITE_P(Atomic, ShippedProtocol, testing::ValuesIn(kAtomicProtocols),
                         [](const auto& instance) { return std::string(instance.param); });

TEST(AtomicProtocols, HaveNoStateInWhichACacheWaits) {
  for (const char* name : kAtomicProtocols) {
    for (const StateInfo& state : shipped_protocol(name).cache.states) EXPECT_TRUE(state.stable) << name << " " << state.name;
  }
}

TEST(ShippedProtocols, AreAllInTheListOfTheTests) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(LINEBOUNCE_SOURCE_DIR) + "/models/protocols")) {
    if (entry.path().stem() != "README") files.push_back(entry.path().stem());
  }
  std::vector<std::string> listed(kShippedProtocols.begin(), kShippedProtocols.end());
  listed.insert(listed.end(), kAtomicProtocols.begin(), kAtomicProtocols.end());
  listed.insert(listed.end(), kShippedDirectories.begin(), kShippedDirectories.end());
  listed.insert(listed.end(), kShippedNodes.begin(), kShippedNodes.end());
  listed.insert(listed.end(), kShippedGroups.begin(), kShippedGroups.end());
  listed.insert(listed.end(), kShippedHomes.begin(), kShippedHomes.end());
  EXPECT_THAT(files, testing::UnorderedElementsAreArray(listed));
}

}  // namespace
}  // namespace linebounce::test
