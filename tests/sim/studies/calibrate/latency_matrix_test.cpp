#include "sim/studies/calibrate/latency_matrix.hpp"

#include <gmock/gmock.h>

#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_latency_matrix(text, "m.csv");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(LatencyMatrix, TheToolLeavesTheDiagonalAndAllAboveItEmpty) {
  const LatencyMatrix matrix = parse_latency_matrix(",,\n10.5,,\n20,30.25,\n", "m.csv");
  EXPECT_EQ(matrix.cpus(), 3);
  EXPECT_EQ(matrix.at(0, 1), 10.5);
  EXPECT_EQ(matrix.at(2, 0), 20);
  EXPECT_EQ(matrix.at(1, 2), 30.25);
}

TEST(LatencyMatrix, TheOtherTriangleAloneIsAsGood) {
  EXPECT_EQ(parse_latency_matrix(",10,20\n,,30\n,,\n", "m.csv").at(2, 1), 30);
}

TEST(LatencyMatrix, OfBothDirectionsTheMeanCounts) {
  EXPECT_EQ(parse_latency_matrix("0, 10\r\n20 ,0\r\n", "m.csv").at(0, 1), 15);
}

TEST(LatencyMatrix, MarksOfOtherSystemsAndEmptyLinesAtTheEndDoNoHarm) {
  EXPECT_EQ(parse_latency_matrix("\xef\xbb\xbf,\r\n1e2,\r\n\r\n\n", "m.csv").at(0, 1), 100);
}

TEST(LatencyMatrix, WhatIsNoMatrixIsRefusedWhereItIsWrong) {
  EXPECT_EQ(error_of(""), "m.csv: the file is empty; expected a core-to-core matrix");
  EXPECT_EQ(error_of(" \n\n"), "m.csv: the file is empty; expected a core-to-core matrix");
  EXPECT_EQ(error_of(",,\n1,,\n"),
            "m.csv:2:1: the matrix is not square: 2 rows of 3 cells; expected a row and a column for each CPU");
  EXPECT_EQ(error_of(",,\n1,\n2,3,\n"), "m.csv:2:3: 2 cells, but line 1 has 3: a matrix has a row and a column for each CPU");
  EXPECT_EQ(error_of(",\n\n1,\n"), "m.csv:2:1: 1 cells, but line 1 has 2: a matrix has a row and a column for each CPU");
  EXPECT_EQ(error_of("5\n"), "m.csv:1:1: a matrix of one CPU has no pair; expected 2 to 64 CPUs");
}

TEST(LatencyMatrix, MoreCpusThanAMachineCanHaveAreRefused) {
  std::string text;
  for (int row = 0; row < 65; ++row) {
    for (int column = 0; column < 65; ++column) text += column == 0 ? "1" : ",1";
    text += "\n";
  }
  EXPECT_EQ(error_of(text), "m.csv:1:129: 65 CPUs are more than a machine can have; legal: 2 to 64");
}

TEST(LatencyMatrix, WhatIsNoLatencyIsRefusedWhereItStands) {
  EXPECT_EQ(error_of(",,\n10,,\n20, -3,\n"), "m.csv:3:5: -3 is negative; a latency is 0 ns or more");
  EXPECT_EQ(error_of(",\nfast,\n"), "m.csv:2:1: \"fast\" is no latency; expected a number of nanoseconds");
  EXPECT_EQ(error_of(",\nNaN,\n"), "m.csv:2:1: \"NaN\" is no latency; expected a number of nanoseconds");
  EXPECT_EQ(error_of(",\ninf,\n"), "m.csv:2:1: \"inf\" is no latency; expected a number of nanoseconds");
  EXPECT_EQ(error_of(",\n12ns,\n"), "m.csv:2:1: \"12ns\" is no latency; expected a number of nanoseconds");
  EXPECT_EQ(error_of(",\n1e9,\n"), "m.csv:2:1: 1e9 ns is out of range; legal: 0 to 10000000");
  EXPECT_EQ(error_of("x,\n1,\n"), "m.csv:1:1: \"x\" is no latency; expected a number of nanoseconds");
}

TEST(LatencyMatrix, APairWithoutAValueIsNamed) {
  EXPECT_EQ(error_of(",,\n10,,\n20,,\n"),
            "m.csv:3:4: no value for CPUs 2 and 1, neither here nor on the other side of the diagonal");
}

}  // namespace
}  // namespace linebounce::sim
