#include "models/coherence/checker/counterexample.hpp"

#include <gmock/gmock.h>

#include <sstream>
#include <string>

#include "tests/models/coherence/checker/mutants.hpp"
#include "tests/models/coherence/shipped.hpp"

namespace linebounce::test {
namespace {

TEST(Counterexample, IsADiagramThatEndsInWhatIsBroken) {
  Protocol msi = shipped_protocol("msi_snoop");
  row_of(msi, "M", "Other_GetS").impossible = true;
  row_of(msi, "M", "Other_GetS").source_line = 7;
  const CheckOptions options{.caches = 2};
  const CheckResult result = check_protocol(msi, options);
  ASSERT_TRUE(result.violation);
  EXPECT_EQ(message_diagram(msi, options, *result.violation), R"(step  cache 0               cache 1               memory
      I                     I                     Idle, has 0
      |                     |                     |
   1  Load                  |                     |
      I -> IS_AD            |                     |
      issues GetS           |                     |
      |                     |                     |
   2  |                     Store 0               |
      |                     I -> IM_AD            |
      |                     issues GetM           |
      |                     |                     |
   3  <---------------------o-- GetM ------------->
      |                     IM_AD -> IM_D         sends 0
      |                     |                     |
   4  |                     <-- data 0 -----------o
      |                     IM_D -> M             |
      |                     takes 0               |
      |                     writes 0              |
      |                     |                     |
   5  o-- GetS ------------->--------------------->
      |                     |                     |
      IS_AD                 M                     Idle

  Broken: nothing happens that the table calls impossible.
  msi_snoop.md:7: cache: state M, event Other_GetS: this pair is declared impossible, and it happened
)");
}

TEST(Counterexample, FitsIntoAHundredColumnsForThreeCaches) {
  for (const char* name : kShippedProtocols) {
    const Protocol good = shipped_protocol(name);
    const std::vector<Mutant> mutants = mutants_of(good);
    for (std::size_t i = 0; i < mutants.size(); i += 23) {
      const Protocol mutant = mutants[i].of(good);
      const CheckResult result = check_protocol(mutant, {});
      if (!result.violation) continue;
      std::istringstream lines(message_diagram(mutant, {}, *result.violation));
      for (std::string line; std::getline(lines, line);) {
        if (line.find(".md:") != std::string::npos) continue;
        EXPECT_LT(line.size(), 100U) << mutants[i].name << "\n" << line;
      }
    }
  }
}

// Caches keep their names from first to last step, although symmetry reduction sorts them after every step.
TEST(Counterexample, ReplaysToTheSameViolation) {
  const Protocol good = shipped_protocol("moesi_snoop");
  const std::vector<Mutant> mutants = mutants_of(good);
  for (std::size_t i = 0; i < mutants.size(); i += 11) {
    const Protocol mutant = mutants[i].of(good);
    const CheckResult result = check_protocol(mutant, {});
    if (!result.violation) continue;
    const auto steps = replay(mutant, {}, *result.violation);
    ASSERT_EQ(steps.size(), result.violation->steps.size());
    // Every data step has a supplier, because only an order step that has found one announces a data step.
    for (const ReplayedStep& shown : steps) {
      EXPECT_EQ(shown.message.has_value(), shown.step.kind == StepKind::order) << mutants[i].name;
      EXPECT_EQ(shown.supplier != kNobody, shown.step.kind == StepKind::data) << mutants[i].name;
    }
  }
}

}  // namespace
}  // namespace linebounce::test
