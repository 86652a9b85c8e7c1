#include "commands/calibrate/probe_file.hpp"

#include <gmock/gmock.h>

#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

using testing::HasSubstr;

const std::string kFile = R"(# What coherence costs
probe_format = 1

[host]
model = "Some CPU"
clock_median_mhz = 3000.5
warnings = ["other programs keep the CPUs busy"]

[topology]
cpus = [4, 6]
node = [0, 1]
cache = [{level = 1, size_kib = 32, ways = 8, line_bytes = 64, shared_by = 1}]

[core_to_core]
pairs = 1
pairs_measured = 1
median_ns = [[0.0, 100.0], [110.0, 0.0]]

[handover]
rows = [{from_cpu = 6, to_cpu = 4, home_node = 1, state = "shared", access = "load", median_ns = 90.0, quartile1_ns = 80.0, quartile3_ns = 95.0, repeats = 60}]

[load_to_use]
rows = [{level = "", size_kib = 8, cpu_node = 0, memory_node = 0, median_ns = 1.5, quartile1_ns = 1.5, quartile3_ns = 1.5, repeats = 9}]

[atomic]
rows = [{operation = "fence", median_ns = 5.0, quartile1_ns = 4.0, quartile3_ns = 6.0, repeats = 3}]

[lock_handover]
kind = "ticket"
rows = [{cpus = 2, median_ns = 0.0, quartile1_ns = 0.0, quartile3_ns = 0.0, repeats = 0}]

[contended_line]
rows = [{operation = "fetch_add", cpus = [6, 4], between_cycles = 50, median_ns = 30.0, quartile1_ns = 29.0, quartile3_ns = 31.0, repeats = 60}]
)";

std::string changed(const std::string& from, const std::string& to) {
  std::string text = kFile;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string probe_error(const std::string& text) {
  try {
    parse_probe_file(text, "m.probe");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(ProbeFile, IsKnownByItsFirstLineThatIsNotAComment) {
  EXPECT_TRUE(is_probe_file(kFile));
  EXPECT_TRUE(is_probe_file("\n# text\n  \nprobe_format = 7\n"));
  EXPECT_FALSE(is_probe_file(",\n10,\n"));
  EXPECT_FALSE(is_probe_file("0,1\nprobe_format = 1\n"));
  EXPECT_FALSE(is_probe_file(""));
}

TEST(ProbeFile, NumbersCpusAsItListsThem) {
  const ProbeFile probe = parse_probe_file(kFile, "m.probe");
  EXPECT_EQ(probe.matrix.at(0, 1), 105) << "the mean of both directions";
  ASSERT_EQ(probe.hand_offs.size(), 1U);
  EXPECT_EQ(probe.hand_offs[0].from, 1);
  EXPECT_EQ(probe.hand_offs[0].to, 0);
  EXPECT_EQ(probe.hand_offs[0].state, "shared");
  EXPECT_EQ(probe.node, (std::vector{0, 1}));
}

TEST(ProbeFile, KeepsQuartilesWarningsAndWhatCouldNotBeMeasured) {
  const ProbeFile probe = parse_probe_file(kFile, "m.probe");
  EXPECT_EQ(probe.clock_mhz, 3000.5);
  EXPECT_EQ(probe.atomics.at("fence").lower, 4);
  EXPECT_EQ(probe.atomics.at("fence").upper, 6);
  EXPECT_EQ(probe.rings.at(0).level, "");
  EXPECT_EQ(probe.locks.at(0).ns.repeats, 0);
  EXPECT_THAT(probe.warnings, testing::ElementsAre("other programs keep the CPUs busy"));
  EXPECT_TRUE(probe.bandwidths.empty());
}

TEST(ProbeFile, KeepsTheOrderOfCpusThatContendForTheLineIsAtHomeWithTheFirst) {
  const ProbeFile probe = parse_probe_file(kFile, "m.probe");
  ASSERT_EQ(probe.waiting.size(), 1U);
  EXPECT_EQ(probe.waiting[0].operation, "fetch_add");
  EXPECT_EQ(probe.waiting[0].cpus, (std::vector{1, 0}));
  EXPECT_EQ(probe.waiting[0].between_cycles, 50);
  EXPECT_EQ(probe.waiting[0].ns.median, 30);
}

TEST(ProbeFile, OfAnOlderProbeHasNoContendedLines) {
  EXPECT_TRUE(parse_probe_file(kFile.substr(0, kFile.find("[contended_line]")), "m.probe").waiting.empty());
}

TEST(ProbeFile, IsRefusedWhereAContendedLineIsWrong) {
  EXPECT_THAT(probe_error(changed("operation = \"fetch_add\"", "operation = \"fetch\"")), HasSubstr("m.probe:33:"));
  EXPECT_THAT(probe_error(changed("operation = \"fetch_add\"", "operation = \"fetch\"")), HasSubstr("shared_store"));
  EXPECT_THAT(probe_error(changed("cpus = [6, 4]", "cpus = [6, 5]")), HasSubstr("CPU 5 is none of topology.cpus"));
  EXPECT_THAT(probe_error(changed("cpus = [6, 4]", "cpus = [6, 6]")), HasSubstr("CPU 6 is named twice"));
  EXPECT_THAT(probe_error(changed("\"fetch_add\", cpus = [6, 4]", "\"shared_store\", cpus = [6]")),
              HasSubstr("1 CPUs, but shared_store takes 2 or more"));
  EXPECT_THAT(probe_error(changed("between_cycles = 50", "between_cycles = -1")), HasSubstr("0 to 1000000"));
  EXPECT_THAT(probe_error(changed("median_ns = 30.0, ", "")), HasSubstr("median_ns"));
}

TEST(ProbeFile, IsRefusedWhereItIsWrong) {
  EXPECT_THAT(probe_error(changed("probe_format = 1", "probe_format = 2")), HasSubstr("m.probe:2:"));
  EXPECT_THAT(probe_error(changed("probe_format = 1", "probe_format = 2")),
              HasSubstr("a file of format 2; this program reads 1"));
  EXPECT_THAT(probe_error(changed("node = [0, 1]", "node = [0]")), HasSubstr("1 nodes for 2 CPUs"));
  EXPECT_THAT(probe_error(changed("[110.0, 0.0]", "[110.0]")), HasSubstr("1 cells for 2 CPUs"));
  EXPECT_THAT(probe_error(changed("100.0]", "-1.0]")), HasSubstr("CPUs 4 and 6: expected a latency in ns"));
  EXPECT_THAT(probe_error(changed("from_cpu = 6", "from_cpu = 5")), HasSubstr("CPU 5 is none of topology.cpus"));
  EXPECT_THAT(probe_error(changed("quartile1_ns = 80.0", "quartile1_ns = 91.0")), HasSubstr("is not between the quartiles"));
  EXPECT_THAT(probe_error(changed("[0.0, 100.0], [110.0, 0.0]", "[0.0, 0.1], [0.1, 0.0]")), HasSubstr("expected nanoseconds"));
  EXPECT_THAT(probe_error(changed("[core_to_core]", "[core]")), HasSubstr("the file is not complete"));
}

}  // namespace
}  // namespace linebounce::sim
