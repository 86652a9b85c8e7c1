#include "commands/layout/layout_search.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <random>
#include <set>

#include "commands/layout/arranged_layout.hpp"

namespace linebounce::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kLine = 64;
constexpr std::size_t kNear = 10'000;  // lines in a CPU's nearest caches, so many that none is ever evicted

struct Step {
  std::size_t unit;
  int cpu;
  bool writes;
};

// A structure with members "m0", "m1" and so on, of these sizes, one behind the other.
StructureAccesses structure_of(const std::vector<int>& sizes, const std::vector<Step>& steps) {
  StructureAccesses accesses{
      .layout = {.name = "s", .fields = {}}, .units = {}, .sequence = {}, .uses = {}, .objects = 1, .cpus = 4};
  int end = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const int step = std::min(sizes[i] & -sizes[i], 8);
    end = (end + step - 1) / step * step;
    accesses.layout.fields.push_back({"m" + std::to_string(i), end, sizes[i]});
    end += sizes[i];
  }
  accesses.layout.size = (end + 7) / 8 * 8;
  accesses.units = units_of(accesses.layout);
  accesses.uses.resize(sizes.size());
  for (const Step& step : steps) {
    accesses.sequence.push_back(
        {static_cast<std::uint16_t>(step.unit), static_cast<std::uint16_t>(step.cpu), 0, 0, step.writes});
    UnitUse& use = accesses.uses[step.unit];
    ++(step.writes ? use.writers : use.readers)["f"];
  }
  return accesses;
}

// The steps of `round`, repeated `count` times.
std::vector<Step> rounds(const std::vector<Step>& round, int count = 100) {
  std::vector<Step> steps;
  for (int i = 0; i < count; ++i) steps.insert(steps.end(), round.begin(), round.end());
  return steps;
}

int line_of(const Arrangement& it, std::size_t unit) {
  return it.begins[unit] / kLine;
}

TEST(SharedLineCosts, AReaderPaysForEachWriteOfAnotherCpuToItsLine) {
  const StructureAccesses accesses = structure_of({8, 8}, rounds({{0, 0, true}, {1, 1, false}}));
  SharedLineCosts costs(accesses, kLine, kNear);
  // Each round moves the line to the reader, and then the right to write back to the writer: 99 times, because the first
  // write precedes all reads.
  EXPECT_NEAR(costs.of({{0, 0}, {1, 8}}), 100 * 1.0 + 99 * 0.8, 1);
  EXPECT_LT(costs.of({{0, 0}}) + costs.of({{1, 0}}), 1) << "apart, each is fetched once";
}

TEST(SharedLineCosts, OneCpuAlonePaysForItsFirstAccess) {
  const StructureAccesses accesses = structure_of({8, 8}, rounds({{0, 2, true}, {1, 2, true}}));
  SharedLineCosts costs(accesses, kLine, kNear);
  EXPECT_NEAR(costs.of({{0, 0}, {1, 8}}), 0.4, 0.01);
}

TEST(SharedLineCosts, ALineThatWasNotTouchedForLongIsFetchedAgain) {
  const StructureAccesses accesses = structure_of({8, 8}, rounds({{0, 0, false}, {1, 0, false}, {1, 0, false}, {1, 0, false}}));
  SharedLineCosts near(accesses, kLine, 100), far(accesses, kLine, 2);
  EXPECT_NEAR(near.of({{0, 0}}), 0.4, 0.01);
  EXPECT_NEAR(far.of({{0, 0}}), 100 * 0.4, 0.01);
}

TEST(LayoutSearch, PutsWhatOneCpuWritesOnALineThatNobodyElseTouches) {
  const StructureAccesses accesses =
      structure_of({8, 8, 8, 8}, rounds({{0, 0, true}, {1, 1, false}, {2, 0, true}, {3, 2, false}, {1, 3, false}}));
  SharedLineCosts costs(accesses, kLine, kNear);
  const LayoutLimits limits;
  LayoutSearch search(accesses, costs, limits);
  const auto found = search.find();
  ASSERT_FALSE(found.empty());
  const Arrangement& best = found.front();
  EXPECT_TRUE(best.exact);
  EXPECT_EQ(line_of(best, 0), line_of(best, 2)) << "both are CPU 0's";
  EXPECT_EQ(line_of(best, 1), line_of(best, 3)) << "both are only read";
  EXPECT_NE(line_of(best, 0), line_of(best, 1));
  EXPECT_LT(best.cost, 0.05 * search.present().cost);
}

TEST(LayoutSearch, FindsNothingWhereOneLineServesAll) {
  const StructureAccesses accesses = structure_of({8, 8, 8}, rounds({{0, 0, true}, {1, 0, true}, {2, 1, false}, {2, 1, true}}));
  SharedLineCosts costs(accesses, kLine, kNear);
  const LayoutLimits limits{.max_size = kLine};
  LayoutSearch search(accesses, costs, limits);
  EXPECT_THAT(search.find(), IsEmpty()) << "apart would cost less, but needs a second line";
}

TEST(LayoutSearch, ColdMembersFillGapsUnlessTheyGetAHalfOfTheirOwn) {
  const StructureAccesses accesses =
      structure_of({8, 8, 8, 8}, rounds({{0, 0, true}, {2, 1, false}, {2, 2, false}}));  // m1 and m3 are not touched
  SharedLineCosts costs(accesses, kLine, kNear);
  const LayoutLimits mixed, halves{.cold_half = true};
  const Arrangement filled = LayoutSearch(accesses, costs, mixed).find().front();
  EXPECT_EQ(line_of(filled, 1), 0) << "in the gap behind m0";
  const Arrangement apart = LayoutSearch(accesses, costs, halves).find().front();
  EXPECT_EQ(line_of(apart, 1), line_of(apart, 3));
  EXPECT_GT(line_of(apart, 1), std::max(line_of(apart, 0), line_of(apart, 2)));
}

TEST(LayoutSearch, ApartGivesEachTouchedMemberALine) {
  const StructureAccesses accesses = structure_of({8, 8, 8}, rounds({{0, 0, true}, {1, 0, true}, {2, 1, false}}));
  SharedLineCosts costs(accesses, kLine, kNear);
  const LayoutLimits limits{.max_size = kLine};
  const Arrangement apart = LayoutSearch(accesses, costs, limits).apart();
  EXPECT_THAT(std::set<int>({line_of(apart, 0), line_of(apart, 1), line_of(apart, 2)}), testing::SizeIs(3));
}

TEST(LayoutSearch, ByRoleWrittenMembersAreAloneAndReadOnesTogether) {
  const StructureAccesses accesses =
      structure_of({8, 8, 8, 8}, rounds({{0, 0, true}, {1, 0, false}, {2, 1, true}, {3, 2, false}}));
  SharedLineCosts costs(accesses, kLine, kNear);
  const LayoutLimits limits;
  const Arrangement found = LayoutSearch(accesses, costs, limits).by_role();
  EXPECT_EQ(line_of(found, 1), line_of(found, 3));
  EXPECT_THAT(std::set<int>({line_of(found, 0), line_of(found, 1), line_of(found, 2)}), testing::SizeIs(3));
}

TEST(LayoutUnits, ANestedStructureMovesWithThePaddingAtItsEnd) {
  const Layout layout{
      .name = "s", .size = 24, .fields = {{"local.ip", 0, 4}, {"local.port", 4, 2}, {"limit", 8, 8}, {"end", 16, 2}}};
  const std::vector<LayoutUnit> units = units_of(layout);
  ASSERT_THAT(units, testing::SizeIs(3));
  EXPECT_EQ(units[0].size(), 8);
  EXPECT_EQ(units[2].size(), 2) << "a plain member has none";
}

std::vector<Step> random_steps(std::mt19937& random, std::size_t units, int count) {
  std::vector<Step> steps;
  // For each unit: how many CPUs use it, and the percentage of accesses that write it.
  std::vector<std::pair<int, int>> habits;
  for (std::size_t i = 0; i < units; ++i) {
    const int cpus = 1 + static_cast<int>(random() % 4);
    const int written_pct = static_cast<int>(random() % 3) * 40;
    habits.emplace_back(cpus, written_pct);
  }
  for (int i = 0; i < count; ++i) {
    const std::size_t unit = random() % units;
    const int cpu = static_cast<int>(random() % static_cast<unsigned>(habits[unit].first));
    const bool writes = static_cast<int>(random() % 100) < habits[unit].second;
    steps.push_back({unit, cpu, writes});
  }
  return steps;
}

// The cost of the cheapest division of the units among lines, found by trying all divisions.
double cheapest(const StructureAccesses& accesses, SharedLineCosts& costs) {
  double least = 1e300;
  std::vector<std::vector<UnitOnLine>> lines;
  const std::function<void(std::size_t)> place = [&](std::size_t unit) {
    if (unit == accesses.units.size()) {
      double sum = 0;
      for (const auto& line : lines) sum += costs.of(line);
      least = std::min(least, sum);
      return;
    }
    for (std::size_t i = 0; i <= lines.size(); ++i) {
      if (i == lines.size()) lines.emplace_back();
      int bytes = accesses.units[unit].size();
      for (const UnitOnLine& it : lines[i]) bytes += accesses.units[it.unit].size();
      if (bytes <= kLine) {
        lines[i].push_back({unit, 0});
        place(unit + 1);
        lines[i].pop_back();
      }
      if (lines[i].empty()) {
        lines.pop_back();
        return;
      }
    }
  };
  place(0);
  return least;
}

TEST(LayoutSearch, SmallStructuresGetTheBestDivisionThereIs) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    std::mt19937 random(seed);
    const StructureAccesses accesses = structure_of({8, 16, 8, 4, 32, 8, 4}, random_steps(random, 7, 600));
    SharedLineCosts costs(accesses, kLine, kNear);
    const LayoutLimits limits;
    LayoutSearch search(accesses, costs, limits);
    const auto found = search.find();
    const double best = found.empty() ? search.present().cost : found.front().cost;
    EXPECT_LE(best, cheapest(accesses, costs) + 1e-9 + 1e-3 * best) << "seed " << seed;
  }
}

TEST(LayoutSearch, MergingAndMovingComesWithinATenthOfTheBest) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    std::mt19937 random(seed);
    const StructureAccesses accesses = structure_of({8, 8, 8, 8, 8, 8, 8, 8, 8, 8}, random_steps(random, 10, 1500));
    SharedLineCosts costs(accesses, kLine, kNear);
    const LayoutLimits limits;
    LayoutSearch exact(accesses, costs, limits), local(accesses, costs, limits, 0);
    const auto best = exact.find(), near = local.find();
    ASSERT_EQ(best.empty(), near.empty()) << "seed " << seed;
    if (best.empty()) continue;
    EXPECT_FALSE(near.front().exact);
    EXPECT_LE(near.front().cost, 1.1 * best.front().cost) << "seed " << seed;
  }
}

// Checks that every unit has an offset with the alignment that it had before, and that no units overlap.
void expect_sound(const StructureAccesses& accesses, const Arrangement& it, unsigned seed) {
  ASSERT_EQ(it.order.size(), accesses.units.size()) << "seed " << seed;
  int end = 0;
  for (const std::size_t unit : it.order) {
    EXPECT_GE(it.begins[unit], end) << "seed " << seed << ", unit " << unit;
    EXPECT_EQ(it.begins[unit] % accesses.units[unit].alignment, 0) << "seed " << seed;
    end = it.begins[unit] + accesses.units[unit].size();
  }
  EXPECT_LE(end, it.size);
  EXPECT_EQ(std::set<std::size_t>(it.order.begin(), it.order.end()).size(), it.order.size());
}

TEST(LayoutSearch, ArrangementsKeepAlignmentLimitsAndWhatMustStay) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    std::mt19937 random(seed);
    std::vector<int> sizes;
    for (int i = 0; i < 16; ++i) sizes.push_back(1 << random() % 6);
    if (seed % 3 == 0) sizes[5] = 200;  // longer than a line
    const StructureAccesses accesses = structure_of(sizes, random_steps(random, seed % 2 == 0 ? 16 : 9, 1500));
    SharedLineCosts costs(accesses, kLine, kNear);
    const LayoutLimits limits{.keep_first = seed % 4 == 0 ? 24 : 0, .max_size = 640};
    LayoutSearch search(accesses, costs, limits, seed % 5 == 0 ? 12 : 4);
    for (const Arrangement& it : search.find()) {
      expect_sound(accesses, it, seed);
      EXPECT_LE(it.size, 640);
      for (std::size_t unit = 0; unit < accesses.units.size(); ++unit) {
        const int begin = accesses.units[unit].begin;
        EXPECT_TRUE(begin >= limits.keep_first || it.begins[unit] == begin) << "seed " << seed;
      }
    }
  }
}

TEST(LayoutDifference, NamesPairsOfWhichOneIsWritten) {
  const StructureAccesses accesses = structure_of({8, 8, 8, 8}, rounds({{0, 0, true}, {1, 1, false}, {2, 1, false}}));
  const LayoutDifference lines = difference(accesses, {0, 8, 16, 24}, {64, 8, 72, 24}, kLine);
  ASSERT_EQ(lines.apart.size(), 1U) << "m0 and m2 still share a line, nobody touches m3, and m1 and m2 are only read";
  EXPECT_EQ(accesses.units[lines.apart.front().one].name, "m0");
  EXPECT_EQ(accesses.units[lines.apart.front().other].name, "m1");
  EXPECT_THAT(lines.together, IsEmpty());
}

TEST(ArrangedLayouts, AreWhatTheirChangeMakesOfTheStructure) {
  LayoutFile file{.name = "f", .title = {}, .line_bytes = kLine, .layouts = {}};
  file.layouts.add(
      {.name = "s", .size = 32, .fields = {{"a", 0, 8}, {"list.next", 8, 8}, {"list.prev", 16, 8}, {"b|c", 24, 4}}});
  const ArrangedLayout it = arranged(file, "s", "new", {{"b", 0}, {"list", 8}, {"a", 64}}, kLine, true);
  std::vector<std::string> places;
  for (const Field& field : it.layout.fields) places.push_back(field.name + "@" + std::to_string(field.offset));
  EXPECT_THAT(places, ElementsAre("b|c@0", "list.next@8", "list.prev@16", "a@64"));
  EXPECT_EQ(it.layout.size, 128);
  EXPECT_EQ(it.layout.alignment, kLine);
}

TEST(MembersLike, FollowTheOtherLayoutAndKeepWhatItLacksBehindIt) {
  const Layout have{.name = "s", .size = 24, .fields = {{"a", 0, 8}, {"b", 8, 8}, {"c", 16, 4}}};
  const Layout like{.name = "t", .size = 80, .fields = {{"c", 0, 4}, {"new", 8, 8}, {"a", 64, 8}}};
  std::vector<std::string> missing;
  EXPECT_THAT(members_like(have, like, missing),
              ElementsAre(std::pair<std::string, int>("c", 0), std::pair<std::string, int>("a", 64),
                          std::pair<std::string, int>("b", 80)));
  EXPECT_THAT(missing, ElementsAre("b"));
}

}  // namespace
}  // namespace linebounce::sim
