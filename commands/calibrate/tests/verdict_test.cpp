#include "commands/calibrate/verdict.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace linebounce::sim {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Two blocks of ten pairs each, at 20 and 80 ns. The farther block's mean is off by `between`. Each pair is off from its
// block's mean by `within`.
Calibration left_over(double between, double within) {
  Calibration calibration;
  calibration.base = "some_machine";
  calibration.mean = 50;
  Block near;
  for (int pair = 0; pair < 10; ++pair) near.pairs.emplace_back(0, pair + 1);
  Block far = near;
  far.distance = Distance::other_node;
  calibration.blocks = {{near, 20, 20, within}, {far, 80, 80 + between, std::hypot(between, within)}};
  calibration.rms = std::sqrt(between * between / 2 + within * within);
  return calibration;
}

Calibration with_threads(Calibration calibration, double threads_ns) {
  calibration.contradiction = {threads_ns, 12};
  return calibration;
}

TEST(Verdict, OfAGoodFitIsEmpty) {
  for (const auto structure : {StructureFrom::matrix, StructureFrom::machine, StructureFrom::another_machine}) {
    EXPECT_THAT(verdict_on(left_over(0, 0), structure), IsEmpty());
    EXPECT_THAT(verdict_on(left_over(1, 2), structure), IsEmpty());
  }
}

TEST(Verdict, OfPerfectDataOrAGoodFitBlamesNoMeasurement) {
  EXPECT_THAT(verdict_on(with_threads(left_over(0, 0), 0), StructureFrom::matrix), IsEmpty());
  EXPECT_THAT(verdict_on(with_threads(left_over(0, 2.4), 2.3), StructureFrom::matrix), IsEmpty());
}

TEST(Verdict, BlamesTheMeasurementWhereThreadsDifferByMostOfWhatIsLeft) {
  const std::string said = verdict_on(with_threads(left_over(0, 3), 2.4), StructureFrom::matrix);
  EXPECT_THAT(said,
              HasSubstr("At least 4.8 % of the mean is the measurement: the nearest CPUs, if these are threads of one core"));
  EXPECT_THAT(verdict_on(with_threads(left_over(0, 5), 2.4), StructureFrom::matrix), Not(HasSubstr("the measurement")));
}

TEST(Verdict, CallsThreadsThatDifferByMoreThanAGoodFitAContradiction) {
  const std::string said = verdict_on(with_threads(left_over(0, 4), 3), StructureFrom::matrix);
  EXPECT_THAT(said, HasSubstr("contradicts itself by 6.0 %: the nearest CPUs, if these are threads of one core"));
  EXPECT_THAT(said, HasSubstr("No machine with these cores"));
}

TEST(Verdict, NamesKindsOfPairsWhereTheyAreOff) {
  for (const auto structure : {StructureFrom::matrix, StructureFrom::machine}) {
    const std::string said = verdict_on(left_over(6, 2), structure);
    EXPECT_THAT(said, HasSubstr("whole kinds of pairs that are off"));
    EXPECT_THAT(said, Not(HasSubstr("positions")));
  }
}

TEST(Verdict, NamesNoPositionsThatWereNotLookedFor) {
  EXPECT_THAT(verdict_on(left_over(1, 6), StructureFrom::machine), HasSubstr("was not looked for: without --machine"));
  EXPECT_THAT(verdict_on(left_over(1, 6), StructureFrom::matrix), HasSubstr("Neither groups nor positions"));
  Calibration placed = left_over(1, 6);
  placed.positions.positions.way_ns = {0, 1};
  EXPECT_THAT(verdict_on(placed, StructureFrom::matrix), HasSubstr("Neither groups nor the cores' positions"));
}

TEST(Verdict, OfAnotherStructureSaysHowToGetTheMatrixsOwn) {
  const std::string said = verdict_on(left_over(6, 6), StructureFrom::another_machine);
  EXPECT_THAT(said, HasSubstr("another structure than some_machine has: without --machine that one would be fitted"));
}

TEST(Verdict, SaysOfDirectionsThatTheirMeanWasFittedWhateverElseIsSaid) {
  Calibration good = left_over(0, 1);
  good.directions = {6, 20};
  EXPECT_EQ(verdict_on(good, StructureFrom::matrix),
            "The two directions of a pair differ by 12.0 % (RMS): noise, or a cost that depends on the direction, which no "
            "machine here has. Their mean was fitted.");
  Calibration bad = left_over(0, 6);
  bad.directions = {6, 20};
  EXPECT_THAT(verdict_on(bad, StructureFrom::matrix), HasSubstr("not a good fit"));
  EXPECT_THAT(verdict_on(bad, StructureFrom::matrix), HasSubstr("The two directions of a pair differ by 12.0 %"));
  good.directions = {4, 20};
  EXPECT_THAT(verdict_on(good, StructureFrom::matrix), IsEmpty());
}

}  // namespace
}  // namespace linebounce::sim
