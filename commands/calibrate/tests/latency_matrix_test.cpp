#include "commands/calibrate/latency_matrix.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_measured_matrix(text, "m.csv");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(LatencyMatrix, TheToolLeavesTheDiagonalAndAllAboveItEmpty) {
  const LatencyMatrix matrix = parse_measured_matrix(",,\n10.5,,\n20,30.25,\n", "m.csv").matrix;
  EXPECT_EQ(matrix.cpus(), 3);
  EXPECT_EQ(matrix.at(0, 1), 10.5);
  EXPECT_EQ(matrix.at(2, 0), 20);
  EXPECT_EQ(matrix.at(1, 2), 30.25);
}

TEST(LatencyMatrix, TheOtherTriangleAloneIsAsGood) {
  EXPECT_EQ(parse_measured_matrix(",10,20\n,,30\n,,\n", "m.csv").matrix.at(2, 1), 30);
}

TEST(LatencyMatrix, OfBothDirectionsTheMeanCounts) {
  EXPECT_EQ(parse_measured_matrix("0, 10\r\n20 ,0\r\n", "m.csv").matrix.at(0, 1), 15);
}

TEST(LatencyMatrix, MarksOfOtherSystemsAndEmptyLinesAtTheEndDoNoHarm) {
  EXPECT_EQ(parse_measured_matrix("\xef\xbb\xbf,\r\n1e2,\r\n\r\n\n", "m.csv").matrix.at(0, 1), 100);
}

TEST(LatencyMatrix, WhatIsNotAMatrixIsRefusedWhereItIsWrong) {
  EXPECT_EQ(error_of(""), "m.csv: the file is empty; expected a core-to-core matrix");
  EXPECT_EQ(error_of(" \n\n"), "m.csv: the file is empty; expected a core-to-core matrix");
  EXPECT_EQ(error_of(",,\n1,,\n"),
            "m.csv:2:1: the matrix is not square: 2 rows of 3 cells; expected a row and a column for each CPU");
  EXPECT_EQ(error_of(",,\n1,\n2,3,\n"), "m.csv:2:3: 2 cells, but line 1 has 3: a matrix has a row and a column for each CPU");
  EXPECT_EQ(error_of(",\n\n1,\n"), "m.csv:2:1: 1 cells, but line 1 has 2: a matrix has a row and a column for each CPU");
  EXPECT_EQ(error_of("5\n"), fmt::format("m.csv:1:1: a matrix of one CPU has no pair; expected 2 to {} CPUs", kMostCpus));
}

TEST(LatencyMatrix, WhatTheToolShowsOnTheTerminalIsReadToo) {
  const LatencyMatrix matrix =
      parse_measured_matrix(
          "Num cores: 3\nShowing latency=round-trip-time/2 in nanoseconds:\n\n           0       1       2   \n      0\n"
          "      1  576\xc2\xb1"
          "6  \n      2 \x1b[1m1020.5\x1b[0m\x1b[2m\xc2\xb1"
          "12\x1b[0m   31\xc2\xb1"
          "0  \n\n"
          "    Min  latency: 31.0ns \xc2\xb1"
          "0.1 cores: (2,1)\n",
          "m.txt")
          .matrix;
  EXPECT_EQ(matrix.cpus(), 3);
  EXPECT_EQ(matrix.at(0, 1), 576);
  EXPECT_EQ(matrix.at(2, 0), 1020.5);
  EXPECT_EQ(matrix.at(2, 1), 31);
}

TEST(LatencyMatrix, ATableOfTheTerminalThatWasCutIsRefused) {
  EXPECT_EQ(error_of("  0 1 2\n 0\n 1 5\xc2\xb1"
                     "1\n"),
            "m.csv: the table ends before the line of CPU 2 of 3");
  EXPECT_EQ(error_of("  0 1 2\n 0\n 2 5\xc2\xb1"
                     "1\n"),
            "m.csv:3:2: expected the line of CPU 1 of 3");
  EXPECT_EQ(error_of("Mean latency: 5\xc2\xb1"
                     "1\n"),
            "m.csv: a mean with its error, but no line with the CPUs' numbers 0, 1, ... above it");
  EXPECT_EQ(error_of("5\xc2\xb1"
                     "1\n 0 1"),
            "m.csv: the table ends before the line of CPU 0 of 2");
}

// core-to-core-latency's table of `cpus` CPUs, as a terminal of `width` characters shows it. The latency of CPUs a > b is 100 a
// + b.
std::string table_on_terminal(int cpus, std::size_t width, bool strips_blanks) {
  std::string head = "     ";
  for (int cpu = 0; cpu < cpus; ++cpu) head += fmt::format("{:>8}", cpu);
  std::vector<std::string> lines = {head};
  for (int a = 0; a < cpus; ++a) {
    std::string line = fmt::format("{:>7} ", a);
    for (int b = 0; b < a; ++b) line += fmt::format("{:>5}\xc2\xb1{} ", 100 * a + b, b % 10);
    lines.push_back(line);
  }
  std::string text = "1) CAS latency on a single shared cache line\n\n";
  for (const std::string& line : lines) {
    std::string part;
    std::size_t characters = 0;
    const auto end_part = [&] {
      while (strips_blanks && part.ends_with(' ')) part.pop_back();
      text += part + "\n";
      part.clear();
      characters = 0;
    };
    for (std::size_t i = 0; i < line.size(); ++i) {
      const bool begins = (line[i] & 0xc0) != 0x80;
      if (begins && characters == width) end_part();
      characters += begins ? 1 : 0;
      part += line[i];
    }
    end_part();
  }
  return text;
}

TEST(LatencyMatrix, ATableThatATerminalHasBrokenIsReadAtEachWidth) {
  constexpr int kCpus = 24;
  for (const bool strips_blanks : {false, true}) {
    for (std::size_t width = 60; width < 220; ++width) {
      const LatencyMatrix matrix = parse_measured_matrix(table_on_terminal(kCpus, width, strips_blanks), "m.txt").matrix;
      ASSERT_EQ(matrix.cpus(), kCpus);
      for (int a = 0; a < kCpus; ++a) {
        for (int b = 0; b < a; ++b) ASSERT_EQ(matrix.at(a, b), 100 * a + b) << a << ", " << b << " at " << width;
      }
    }
  }
}

TEST(LatencyMatrix, RowsOfSeveralLinesAreJoined) {
  const std::string labelled =
      "    0  1  2\n   3\n0   0 41 42\n  43\n1  41  0 52\n  53\n2  42 52  0\n  63\n3  43 53 63\n   0\n";
  const std::string bare = " 0 41 42\n 43\n41  0 52\n 53\n42 52  0\n 63\n43 53 63\n  0\n";
  const std::string commas = "0,41,4\n2,43\n41,0,5\n2,53\n42,52,\n0,63\n43,53,\n63,0\n";
  for (const std::string& text : {labelled, bare, commas}) {
    const LatencyMatrix matrix = parse_measured_matrix(text, "m.txt").matrix;
    ASSERT_EQ(matrix.cpus(), 4) << text;
    EXPECT_EQ(matrix.at(0, 1), 41);
    EXPECT_EQ(matrix.at(0, 2), 42);
    EXPECT_EQ(matrix.at(2, 3), 63);
  }
}

TEST(LatencyMatrix, AListOfPairsInBothDirectionsIsNotJoined) {
  const std::string list = "0 1 11\n0 2 12\n0 3 13\n1 0 11\n1 2 22\n1 3 23\n2 0 12\n2 1 22\n2 3 33\n3 0 13\n3 1 23\n3 2 33\n";
  const LatencyMatrix matrix = parse_measured_matrix(list, "m.txt").matrix;
  ASSERT_EQ(matrix.cpus(), 4);
  EXPECT_EQ(matrix.at(2, 3), 33);
}

TEST(LatencyMatrix, OfSeveralTablesNoneIsChosenSilently) {
  const std::string all = "m.csv: has 2 tables, which begin in lines 1, {}: a machine has one; keep it alone";
  EXPECT_EQ(error_of(",\n40,\n,\n90,\n"), fmt::format(fmt::runtime(all), 3));
  EXPECT_EQ(error_of("0 40\n40 0\n\n0 90\n90 0\n"), fmt::format(fmt::runtime(all), 4));
  EXPECT_EQ(error_of(",0,1\n0,,40\n1,40,\n\n,0,1\n0,,90\n1,90,\n"), fmt::format(fmt::runtime(all), 5));
  const std::string first = table_on_terminal(4, 200, false);
  EXPECT_EQ(parse_measured_matrix(first, "m.txt").further_tables, 0);
  EXPECT_EQ(parse_measured_matrix(first + "\n2) Single-writer\n" + first, "m.txt").further_tables, 1);
}

TEST(LatencyMatrix, MoreCpusThanAMachineCanHaveAreRefused) {
  std::string text;
  const int cpus = kMostCpus + 1;
  for (int row = 0; row < cpus; ++row) {
    for (int column = 0; column < cpus; ++column) text += column == 0 ? "1" : ",1";
    text += "\n";
  }
  EXPECT_EQ(error_of(text),
            fmt::format("m.csv:1:{}: {} CPUs are more than a machine can have; legal: 2 to {}", 2 * cpus - 1, cpus, kMostCpus));
}

TEST(LatencyMatrix, WhatIsNotALatencyIsRefusedWhereItStands) {
  EXPECT_EQ(error_of(",,\n10,,\n20, -3,\n"), "m.csv:3:5: -3 is negative; a latency is 0 ns or more");
  EXPECT_EQ(error_of(",\nfast,\n"), "m.csv:2:1: \"fast\" is not a latency; expected a number of nanoseconds");
  EXPECT_EQ(error_of(",\ninf,\n"), "m.csv:2:1: \"inf\" is not a latency; expected a number of nanoseconds");
  EXPECT_EQ(error_of(",\n12us,\n"), "m.csv:2:1: \"12us\" is not a latency; expected a number of nanoseconds");
  EXPECT_EQ(error_of(",\n1e9,\n"), "m.csv:2:1: 1e9 ns is out of range; legal: 0 to 10000000");
  EXPECT_EQ(error_of("y,\n1,\n"), "m.csv:1:1: \"y\" is not a latency; expected a number of nanoseconds");
  EXPECT_EQ(error_of("x,x\n1,x\n"), "m.csv:1:3: \"x\" is not a latency; expected a number of nanoseconds");
}

TEST(LatencyMatrix, APairWithoutAValueIsNamed) {
  EXPECT_EQ(error_of(",,\n10,,\n20,,\n"),
            "m.csv:3:4: no value for CPUs 2 and 1, neither here nor on the other side of the diagonal");
  EXPECT_EQ(error_of(",\nNaN,\n"), "m.csv:2:1: no value for CPUs 1 and 0, neither here nor on the other side of the diagonal")
      << "tools for tables write NaN where a cell is empty";
}

}  // namespace
}  // namespace linebounce::sim
