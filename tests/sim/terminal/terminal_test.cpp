#include "sim/terminal/terminal.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "sim/terminal/charts.hpp"
#include "sim/terminal/machine_drawing.hpp"
#include "sim/terminal/paper_table.hpp"
#include "sim/terminal/progress_line.hpp"
#include "tests/sim/terminal/plain.hpp"

namespace linebounce::sim {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void expect_to_fit(const std::string& text) {
  for (const std::string& line : lines_of(text)) EXPECT_LE(width_of(line), kTerminalWidth) << line;
}

TEST(Terminal, WidthsCountCharactersAndNotBytes) {
  EXPECT_EQ(width_of("1.5 µs"), 6U);
  EXPECT_EQ(pad_left("µs", 4), "  µs");
  EXPECT_EQ(shortened("cmpxchg_cache_transfer", 11), "cmpxc…nsfer");
  EXPECT_EQ(shortened("µµµµµ", 5), "µµµµµ");
}

TEST(Terminal, ANameIsBrokenBehindItsPartsOrWhereTheLineEnds) {
  EXPECT_THAT(wrapped_name("dcache_lock.locked", 12), ElementsAre("dcache_lock.", "locked"));
  EXPECT_THAT(wrapped_name("kmem_cache", 20), ElementsAre("kmem_cache"));
  EXPECT_THAT(wrapped_name("nnnnnnnnnn", 4), ElementsAre("nnnn", "nnnn", "nn"));
}

TEST(Terminal, ProseIsBrokenAtSpacesAndAWordOnlyWhereItIsLongerThanALine) {
  EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("averylongword b", 5), ElementsAre("avery", "longw", "ord b"));
}

TEST(Terminal, NumbersForPeople) {
  EXPECT_EQ(as_given(12.9, "ns"), "12.9 ns");
  EXPECT_EQ(signed_percent(-0.0033), "-0.3 %");
  EXPECT_EQ(signed_percent(9.99), "+999.0 %");
  EXPECT_EQ(signed_percent(20), "x 21");
  EXPECT_EQ(readable_duration(200), "3 min 20 s");
}

TEST(Terminal, WithoutColourNoEscapeIsWritten) {
  EXPECT_EQ(kPlain(Colour::red, "miss"), "miss");
  EXPECT_THAT(Painter(true, kTerminalWidth)(Colour::red, "miss"), HasSubstr("\x1b["));
}

TEST(PaperTable, ShowsAPredictedMissAsAMiss) {
  PaperResult result;
  result.row.id = "ols2004.table1.cmpxchg_cache_transfer_and_invalidate";
  result.row.metrics = {"cost.x"};
  result.row.value = 360.9;
  result.row.tolerance = 0.1;
  result.row.kind = PaperKind::predicted;
  result.row.source = "OLS 2004, table 1";
  result.simulated = 435;
  result.unit = "ns";
  result.ratio = 1.20532;
  result.ok = false;
  const std::string table = paper_table({result}, kPlain);
  EXPECT_THAT(table, HasSubstr("360.9 ns"));
  EXPECT_THAT(table, HasSubstr("+20.5 %  predicted   ✗ off ± 10 %"));
  expect_to_fit(table);
  EXPECT_THAT(score_text({result}, kPlain), HasSubstr("predicted 0 of 1"));
}

PaperResult predicted_row(const std::string& id, const std::string& source, double value, double simulated) {
  PaperResult result;
  result.row.id = id;
  result.row.metrics = {"throughput.operations_per_s"};
  result.row.value = value;
  result.row.tolerance = 0.1;
  result.row.kind = PaperKind::predicted;
  result.row.source = source;
  result.simulated = simulated;
  result.unit = "1/s";
  result.ratio = simulated / value;
  result.ok = false;
  return result;
}

// The common part of the sources is too long for the table's first column, so it becomes a title on a line of its own.
TEST(PaperTable, APublicationOfWhichEachRowCitesAnotherFigureIsOneTable) {
  const std::string head = "someone/a-benchmark, commit 1b3f7f8, results/all.csv, median of 15";
  const std::string table = paper_table(
      {predicted_row("g2.a", head + ": ticket, 4 cores", 1, 2), predicted_row("g2.b", head + ": ticket, 16 cores", 1, 2),
       predicted_row("g2.c", head + ": spin, 4 cores", 1, 2)},
      kPlain);
  EXPECT_EQ(lines_of(table).at(0), "  " + head);
  EXPECT_THAT(table, Not(HasSubstr("ticket")));
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 6) << table;
  expect_to_fit(table);
}

// Neither two changes of one kernel nor two papers by one author are one publication.
TEST(PaperTable, PublicationsThatOnlyBeginAlikeAreTablesOfTheirOwn) {
  const std::pair<std::string, std::string> pairs[] = {
      {"Linux 1234567890ab: a change of a list, two sockets", "Linux ba0987654321: a change of a counter, four sockets"},
      {"Dice, Kogan, Compact NUMA-aware Locks, EuroSys 2019", "Dice, Marathe, Shavit, Lock Cohorting, PPoPP 2012"},
  };
  for (const auto& [one, other] : pairs) {
    const std::string table = paper_table({predicted_row("a", one, 1, 2), predicted_row("b", other, 1, 2)}, kPlain);
    EXPECT_THAT(table, HasSubstr(one));
    EXPECT_THAT(table, HasSubstr(other));
  }
}

TEST(PaperTable, SectionsOfOnePaperAreTablesOfTheirOwn) {
  const std::string table =
      paper_table({predicted_row("a", "OLS 2007, section 3", 1, 2), predicted_row("b", "OLS 2007, figure 1", 1, 2)}, kPlain);
  EXPECT_THAT(table, HasSubstr("OLS 2007, section 3  "));
  EXPECT_THAT(table, HasSubstr("OLS 2007, figure 1  "));
}

TEST(PaperTable, ARateHasThePrefixThatItHasInEveryOtherTable) {
  const std::string table = paper_table({predicted_row("spin", "a paper", 12'130'000, 20'940'000)}, kPlain);
  EXPECT_THAT(table, HasSubstr("  12.13 M/s    20.9 M/s"));
  expect_to_fit(table);
}

// From +50 % to +80 % is 1.8 / 1.5 = 1.2.
TEST(PaperTable, AChangeIsComparedAsAFactor) {
  PaperResult result = predicted_row("padded", "a paper", 0.5, 0.8);
  result.row.relative_to.emplace();
  result.unit = "";
  EXPECT_THAT(paper_table({result}, kPlain), ContainsRegex(R"(padded +\+50\.0 % +\+80\.0 % +\+20\.0 %)"));
}

TEST(PaperTable, CountsEachKindOfItsOwn) {
  std::vector<PaperResult> results(4);
  results[0].row.kind = PaperKind::calibrated;
  results[1].row.kind = PaperKind::in_sight;
  results[2].row.kind = PaperKind::in_sight;
  results[3].row.kind = PaperKind::predicted;
  for (PaperResult& result : results) result.ok = true;
  results[2].ok = false;
  EXPECT_EQ(score_text(results, kPlain), "within tolerance: calibrated 1 of 1, in sight 1 of 2, predicted 1 of 1");
}

// 10 and 1000 ns are two decades apart: the longer one is drawn to the right of the shorter, each with its share.
TEST(LatencyChart, DrawsShorterLatenciesToTheLeft) {
  const std::string chart = latency_chart({{"kernel", "memory", 0, 1000, 1}, {"kernel", "l2", 0, 10, 3}}, kPlain);
  expect_to_fit(chart);
  const auto lines = lines_of(chart);
  ASSERT_GE(lines.size(), 6U);
  EXPECT_THAT(lines[2], HasSubstr("L2"));
  EXPECT_THAT(lines[0], HasSubstr("% of accesses"));
  EXPECT_THAT(lines[2], HasSubstr("75.0"));
  EXPECT_THAT(lines[4], HasSubstr("memory"));
  EXPECT_LT(width_of(lines[2].substr(0, lines[2].find("█"))), width_of(lines[4].substr(0, lines[4].find("█"))));
}

// 20 to 40 ns is as wide as 40 to 80 ns, because the axis is logarithmic.
TEST(LatencyChart, HasALogarithmicAxis) {
  const std::string chart =
      latency_chart({{"kernel", "a", 0, 20, 1}, {"kernel", "b", 0, 40, 1}, {"kernel", "c", 0, 80, 1}}, kPlain);
  const auto lines = lines_of(chart);
  const auto column = [&](std::size_t line) {
    return static_cast<int>(width_of(lines.at(line).substr(0, lines.at(line).find("█"))));
  };
  EXPECT_NEAR(column(4) - column(2), column(6) - column(4), 1);
  EXPECT_GT(column(4), column(2));
}

TEST(LatencyChart, IsEmptyWhenNothingWasMeasured) {
  EXPECT_EQ(latency_chart({}, kPlain), "");
  EXPECT_EQ(latency_chart({{"kernel", "l2", 0, 0, 5}}, kPlain), "");
}

TEST(LatencyChart, ASingleLatencyHasAnAxisToo) {
  expect_to_fit(latency_chart({{"kernel", "l2", 9, 12.9, 1}}, kPlain));
}

MachineSpec machine_with(int cpus) {
  MachineSpec machine;
  machine.cpus = cpus;
  machine.cpus_present = cpus;
  machine.cpu.clock = {700, 1};
  machine.caches = {{"L1D", 16, 4, 32, 3}, {"L2", 1024, 8, 32, 9}};
  machine.bus.protocol = "mesi_snoop";
  machine.bus.clock = {100, 1};
  machine.bus.width_bytes = 8;
  machine.memory.latency_ns = 100;
  return machine;
}

TEST(Topology, FourCoresStandSideBySideAboveBusAndMemory) {
  const std::string drawing = draw_topology(machine_with(4));
  expect_to_fit(drawing);
  for (const char* part : {"CPU 0", "CPU 3", "L1D  16 KiB", "L2  1 MiB", "9 cycles", "mesi_snoop", "800 MB/s", "100 ns"}) {
    EXPECT_THAT(drawing, HasSubstr(part));
  }
}

TEST(Topology, OfManyCoresTheFirstAndTheLastAreDrawn) {
  const std::string drawing = draw_topology(machine_with(16));
  expect_to_fit(drawing);
  EXPECT_THAT(drawing, HasSubstr("CPU 0"));
  EXPECT_THAT(drawing, HasSubstr("CPU 15"));
  EXPECT_THAT(drawing, Not(HasSubstr("CPU 9")));
}

TEST(Topology, HardwareThreadsShareTheirCoresBox) {
  MachineSpec machine = machine_with(4);
  machine.cpu.threads_per_core = 2;
  EXPECT_THAT(draw_topology(machine), HasSubstr("CPU 1, 3"));
  machine.cpu_order = CpuOrder::fill;
  EXPECT_THAT(draw_topology(machine), HasSubstr("CPU 2, 3"));
}

MachineSpec machine_of_nodes(int cpus, int nodes, int buses_per_node) {
  MachineSpec machine = machine_with(cpus);
  machine.nodes = nodes;
  machine.buses_per_node = buses_per_node;
  machine.node.protocol = "mesi_node";
  machine.node.occupancy_ns = 12;
  machine.node.cache_size_kib = 32768;
  machine.directory.protocol = "mesi_directory";
  machine.network.topology = Topology::ring;
  machine.network.latency_ns = 25;
  return machine;
}

TEST(Topology, NodesStandOnTheirNetworkWithTheirBusesAndDistances) {
  const std::string drawing = draw_topology(machine_of_nodes(16, 4, 2));
  expect_to_fit(drawing);
  for (const char* part : {"node 0, bus 0", "CPU 8", "controller  mesi_node", "occupied 12 ns", "cache  32 MiB", "node 3",
                           "bus 7  CPU 7, 15", "directories  mesi_directory", "network  ring, 25 ns a link"}) {
    EXPECT_THAT(drawing, HasSubstr(part));
  }
  EXPECT_THAT(drawing, HasSubstr("from 1           25      -     25     50\n"));
}

TEST(Topology, OfManyNodesTheFirstAndTheLastAreDrawn) {
  const std::string drawing = draw_topology(machine_of_nodes(64, 64, 1));
  expect_to_fit(drawing);
  EXPECT_THAT(drawing, HasSubstr("node 63"));
  EXPECT_THAT(drawing, Not(HasSubstr("node 40")));
}

TEST(Topology, ANodeMayHaveNoCpuOrNoMemory) {
  MachineSpec machine = machine_of_nodes(4, 3, 1);
  machine.cpu_nodes = "1 2";
  machine.memory.nodes = "0";
  const std::string drawing = draw_topology(machine);
  EXPECT_THAT(drawing, HasSubstr("node 1, bus 1"));
  EXPECT_THAT(drawing, HasSubstr("no CPU"));
  EXPECT_THAT(drawing, HasSubstr("no memory"));
}

TEST(Topology, TwoBusesOfOneNodeNeedNoNetwork) {
  EXPECT_THAT(draw_topology(machine_of_nodes(8, 1, 2)), Not(HasSubstr("network")));
}

TEST(Topology, ASingleCpuIsNarrowerThanItsBus) {
  expect_to_fit(draw_topology(machine_with(1)));
}

TEST(ProgressLine, SaysHowManyPointsAreDoneAndHowLongTheRestTakes) {
  const std::string text = progress_text({12, 3, 0.25, 30}, 90);
  EXPECT_THAT(text, HasSubstr("3 of 12 points"));
  EXPECT_THAT(text, HasSubstr("25 %"));
  EXPECT_THAT(text, HasSubstr("1 min 30 s left"));
}

TEST(TimeLeft, GoesDownWhileTheRatesOfPointsDiffer) {
  TimeLeft left;
  double shown = 1e9;
  // Points of 1 s and 3 s alternate, each 1/20 of the work. The latest point's time must not make the estimate jump.
  double elapsed_s = 10;
  for (int point = 5; point < 20; ++point) {
    elapsed_s += point % 2 == 0 ? 1 : 3;
    const auto now = left.update({20, point, point / 20.0, elapsed_s});
    ASSERT_TRUE(now.has_value());
    EXPECT_LE(*now, shown);
    shown = *now;
  }
  EXPECT_LE(shown, 3);
}

TEST(TimeLeft, IsNotGuessedAtTheBeginningAndNotNeededAtTheEnd) {
  TimeLeft left;
  EXPECT_FALSE(left.update({12, 0, 0.001, 1}));
  EXPECT_FALSE(left.update({12, 12, 1, 100}));
}

TEST(TimeLeft, ComesInStepsThatGrowWithIt) {
  EXPECT_EQ(TimeLeft().update({12, 3, 0.25, 30}), 90);
  EXPECT_EQ(TimeLeft().update({12, 3, 0.25, 29}), 90) << "87 s in steps of 5";
  EXPECT_EQ(TimeLeft().update({12, 3, 0.1, 301}), 2760) << "45 minutes 9 seconds in steps of 60";
}

}  // namespace
}  // namespace linebounce::sim
