#include "sim/studies/calibrate/latency_matrix.hpp"

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
