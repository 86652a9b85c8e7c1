#include <gmock/gmock.h>

#include <sstream>

#include "sim/terminal/charts.hpp"

namespace linebounce::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

const Painter kUnbounded(false, 0);

// CPUs alternate between two nodes, as with cpu_order = "spread"; 100 ns within a node, 300 between nodes.
std::vector<MatrixRow> two_nodes(int cpus) {
  std::vector<MatrixRow> rows;
  for (int from = 0; from < cpus; ++from) {
    for (int to = 0; to < cpus; ++to) {
      for (int home = 0; home < 2 && from != to; ++home)
        rows.push_back({from, to, home, "Modified", from % 2 == to % 2 ? 100.0 : 300.0});
    }
  }
  return rows;
}

std::vector<int> nodes(int cpus) {
  std::vector<int> of;
  for (int cpu = 0; cpu < cpus; ++cpu) of.push_back(cpu % 2);
  return of;
}

TEST(MatrixChart, WithoutLatenciesIsEmpty) {
  EXPECT_EQ(matrix_chart({}, {0, 0}, kUnbounded), "");
}

TEST(MatrixChart, CpusOfANodeStandTogether) {
  EXPECT_THAT(matrix_chart(two_nodes(4), nodes(4), kUnbounded), HasSubstr("   cpu 0       100   300  300\n"
                                                                          "   cpu 2  100        300  300\n"
                                                                          "\n"
                                                                          "   cpu 1  300  300        100\n"));
}

TEST(MatrixChart, SaysWhatTheHomeCostsBetweenNodes) {
  EXPECT_THAT(matrix_chart(two_nodes(4), nodes(4), kUnbounded),
              HasSubstr("Modified    giver's node 300 ns   receiver's node 300 ns\n"));
  EXPECT_THAT(matrix_chart({{0, 1, 0, "Shared", 5}}, {0, 0}, kUnbounded), Not(HasSubstr("home")));
}

class MatrixChartOfManyCpus : public testing::TestWithParam<int> {};

TEST_P(MatrixChartOfManyCpus, FitsTheTerminal) {
  std::istringstream text(matrix_chart(two_nodes(GetParam()), nodes(GetParam()), kUnbounded));
  for (std::string line; std::getline(text, line);) EXPECT_LE(width_of(line), kTerminalWidth) << line;
}

INSTANTIATE_TEST_SUITE_P(Sizes, MatrixChartOfManyCpus, testing::Values(2, 16, 32));

TEST(MatrixChart, ManyCpusAreShadesWithALegend) {
  const std::string text = matrix_chart(two_nodes(32), nodes(32), kUnbounded);
  EXPECT_THAT(text, HasSubstr("██"));
  EXPECT_THAT(text, HasSubstr("·· from 100 ns"));
}

}  // namespace
}  // namespace linebounce::sim
