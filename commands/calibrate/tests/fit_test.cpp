#include "commands/calibrate/fit.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "commands/calibrate/least_squares.hpp"
#include "matrices.hpp"
#include "sim/config/machine_file.hpp"

namespace linebounce::sim {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pair;

TEST(LeastSquares, AnUnknownAtItsBoundLeavesTheRestToTheOthers) {
  const std::vector<std::vector<double>> slopes = {{1, 2}, {1, 4}};
  EXPECT_THAT(least_squares(slopes, {10, 18}, {1, 1}, {-100, -100}), ElementsAre(DoubleNear(2, 1e-9), DoubleNear(4, 1e-9)));
  EXPECT_THAT(least_squares(slopes, {-4, -10}, {1, 1}, {-100, -2}), ElementsAre(DoubleNear(-1, 1e-9), -2));
}

TEST(LeastSquares, LeavesAParameterThatNoRowDependsOn) {
  EXPECT_THAT(least_squares({{0, 2}}, {6}, {1}, {-5, -5}), ElementsAre(0, 3));
}

TEST(LeastSquares, WhatLeftItsBoundAgainIsNotHeldThere) {
  // Without the bound on the first unknown, the second would be negative. With the first at its bound, the second must rise.
  const std::vector<double> x = least_squares({{1, 1}, {1, 0.5}}, {-4, -6}, {1, 1}, {-2, -0.5});
  EXPECT_THAT(x, ElementsAre(-2, -0.5));
  EXPECT_THAT(least_squares({{3, 1}, {1, 1}}, {-1, 3}, {1, 1}, {0, 0}), ElementsAre(0, DoubleNear(1, 1e-9)));
}

TEST(LeastSquares, OfTwoThatDoTheSameTheFirstMovesUntilItIsAtItsBound) {
  EXPECT_THAT(least_squares({{1, 2}, {1, 2}}, {6, 6}, {1, 1}, {-5, -5}), ElementsAre(DoubleNear(6, 1e-9), 0));
  EXPECT_THAT(least_squares({{1, 2}, {1, 2}}, {-9, -9}, {1, 1}, {-5, -5}), ElementsAre(-5, DoubleNear(-2, 1e-9)));
}

TEST(Separate, NamesWhatMovesTheSameRowsTogether) {
  // Parameters by their effects on two figures: 0 and 1 are independent, 2 has twice the effect of 0, 3 that of both, 4 none.
  const Separation found = separate({{1, 0, 2, 1, 0}, {0, 1, 0, 1, 0}}, {1, 1});
  EXPECT_THAT(found.apart, ElementsAre(0, 1));
  EXPECT_THAT(found.powerless, ElementsAre(4));
  ASSERT_EQ(found.dependent.size(), 2);
  EXPECT_EQ(found.dependent[0].unknown, 2);
  EXPECT_THAT(found.dependent[0].on, ElementsAre(0));
  EXPECT_THAT(found.dependent[0].parts, ElementsAre(DoubleNear(2, 1e-9)));
  EXPECT_EQ(found.dependent[1].unknown, 3);
  EXPECT_THAT(found.dependent[1].on, ElementsAre(0, 1));
}

TEST(Separate, WhatIsRoundedToWholeClocksIsNotApartForThat) {
  EXPECT_THAT(separate({{4, 4.1}, {8, 7.9}}, {1, 1}).apart, ElementsAre(0));
  EXPECT_THAT(separate({{4, 8}, {8, 8}}, {1, 1}).apart, ElementsAre(0, 1));
}

SimulateMatrices simulated_by(const std::function<LatencyMatrix(const Values&)>& matrix_of) {
  return [matrix_of](const std::vector<Values>& candidates) {
    std::vector<LatencyMatrix> matrices;
    std::transform(candidates.begin(), candidates.end(), std::back_inserter(matrices), matrix_of);
    return matrices;
  };
}

// A machine whose latencies are linear in the parameters: 4 CPUs in 2 nodes that one link connects.
class Fit : public ::testing::Test {
 protected:
  Fit() {
    machine_ = load_machine("generic_2socket_32core").spec;
    machine_.cpus = machine_.cpus_present = 4;
    blocks_ = blocks_of(machine_, lay_out(machine_));
    knobs_ = knobs_of(machine_, blocks_, "atomic");
    for (const Knob& knob : knobs_) {
      for (const std::string& path : knob.paths) start_[path] = 10;
    }
  }

  LatencyMatrix matrix_of(const Values& values) {
    ++simulations_;
    const double bus = 10 + 0.5 * (values.at("machine.bus.intervention_clocks") + values.at("machine.bus.snoop_clocks")) +
                       values.at("machine.cpu.fill_latency_cycles") / 3;
    const double network = 2 * values.at("machine.network.latency_ns") + 4 * values.at("machine.node.latency_ns");
    return made_up(
        4, [&](int a, int b) { return a % 2 == b % 2 ? bus : bus + 20 + network; }, 0);
  }

  FitResult fitted_to(double bus, double node) {
    const auto measured = made_up(
        4, [&](int a, int b) { return a % 2 == b % 2 ? bus : node; }, 0);
    return fit(knobs_, blocks_, measured, start_, simulated_by([this](const Values& values) { return matrix_of(values); }));
  }

  MachineSpec machine_;
  std::vector<Block> blocks_;
  std::vector<Knob> knobs_;
  Values start_;
  int simulations_ = 0;
};

TEST_F(Fit, TheBusComesFirstThenTheNetworkWithWhatTheBusHasBecome) {
  // A transfer on the bus costs 10 + (10 + 10) / 2 + 10 / 3 = 23.33 ns and must cost 40.33, so the intervention needs 34 more
  // clocks of 0.5 ns. Between nodes, 130.33 = 40.33 + 20 + 4 * 10 + 2 * 15, so the network needs 15 ns.
  const FitResult result = fitted_to(40.3333, 130.3333);
  EXPECT_THAT(result.values, ElementsAre(Pair("machine.bus.intervention_clocks", 44), Pair("machine.network.latency_ns", 15)));
}

TEST_F(Fit, AMachineThatIsRightStaysAsItIs) {
  EXPECT_TRUE(fitted_to(23.3333, 103.3333).values.empty());
  EXPECT_EQ(simulations_, 1 + static_cast<int>(knobs_.size())) << "once as it is, and once for what each parameter does";
}

TEST_F(Fit, WhatOneParameterCannotTakeTheNextOneDoes) {
  // The bus must become 8 ns faster, 16 clocks. The intervention only has 10, so the snoop loses the other 6. Between nodes,
  // 2 * network + 4 * controller must be 15 ns. A network of 0 would need controllers of 3.75 ns; in steps of 0.1 ns, 0.1 and
  // 3.7 come closest.
  const FitResult result = fitted_to(15.3333, 50.3333);
  EXPECT_EQ(result.values.at("machine.bus.intervention_clocks"), 0);
  EXPECT_EQ(result.values.at("machine.bus.snoop_clocks"), 4);
  EXPECT_EQ(result.values.at("machine.network.latency_ns"), 0.1);
  EXPECT_EQ(result.values.at("machine.node.latency_ns"), 3.7);
}

TEST_F(Fit, LessThanAClockOfTheBusIsTheCores) {
  // 10.2 ns must be added to 23.33. 20 clocks of 0.5 ns leave 0.2, and one cycle of the core, a third of a nanosecond, then
  // misses by 0.13. 19 clocks and two cycles miss by 0.03.
  const FitResult result = fitted_to(33.5333, 113.5333);
  EXPECT_EQ(result.values.at("machine.bus.intervention_clocks"), 29);
  EXPECT_EQ(result.values.at("machine.cpu.fill_latency_cycles"), 12);
}

TEST_F(Fit, TheLastClockIsNotTurnedIfThatSetsPairsApart) {
  // As above, but with 12 cycles the two pairs of a bus lie 1 ns above and below their mean.
  const auto measured = made_up(
      4, [](int a, int b) { return a % 2 == b % 2 ? 33.5333 : 113.5333; }, 0);
  const auto simulate = simulated_by([this](const Values& values) {
    LatencyMatrix matrix = matrix_of(values);
    if (values.at("machine.cpu.fill_latency_cycles") == 12) {
      matrix.set(2, 0, matrix.at(2, 0) + 1);
      matrix.set(3, 1, matrix.at(3, 1) - 1);
    }
    return matrix;
  });
  const FitResult result = fit(knobs_, blocks_, measured, start_, simulate);
  EXPECT_EQ(result.values.at("machine.bus.intervention_clocks"), 30);
  EXPECT_EQ(result.values.at("machine.cpu.fill_latency_cycles"), 11);
}

TEST_F(Fit, WhatShowsNextToNothingIsNotTurnedFar) {
  // The bus can't become that fast: it takes 10.5 ns at least. Each nanosecond of the hidden crossing saves 5 ps, so only 300
  // ns of it would make up for the rest.
  const auto measured = made_up(
      4, [](int a, int b) { return a % 2 == b % 2 ? 9.0 : 90.0; }, 0);
  const auto simulate = simulated_by([this](const Values& values) {
    LatencyMatrix matrix = matrix_of(values);
    const double hidden = 0.005 * values.at("machine.node.request_crossing_ns");
    for (const auto& [a, b] : {std::pair(2, 0), {3, 1}}) matrix.set(a, b, matrix.at(a, b) - hidden);
    return matrix;
  });
  const FitResult result = fit(knobs_, blocks_, measured, start_, simulate);
  EXPECT_LT(result.values.at("machine.node.request_crossing_ns"), 50) << "no more than a start or a probe";
  EXPECT_EQ(result.values.at("machine.bus.intervention_clocks"), 0);
}

TEST_F(Fit, SaysWhatItCannotTellApart) {
  const FitResult result = fitted_to(40.3333, 130.3333);
  EXPECT_EQ(result.end, SearchEnd::nothing_left);
  const auto path = [&](std::size_t knob) { return knobs_[knob].paths.front(); };
  std::map<std::string, std::string> same_as;
  for (const Dependence& dependence : result.separation.dependent) {
    ASSERT_EQ(dependence.on.size(), 1);
    same_as[path(dependence.unknown)] = path(dependence.on.front());
  }
  EXPECT_THAT(same_as, ElementsAre(Pair("machine.bus.snoop_clocks", "machine.bus.intervention_clocks"),
                                   Pair("machine.cpu.fill_latency_cycles", "machine.bus.intervention_clocks"),
                                   Pair("machine.node.latency_ns", "machine.network.latency_ns")));
}

// Eight nodes, each linked to its ring neighbours and to the opposite node, so that any node is at most two links away.
class EightNodes : public ::testing::Test {
 protected:
  EightNodes() {
    machine_ = load_machine("generic_8socket_64core").spec;
    machine_.cpus = machine_.cpus_present = 16;
    machine_.network.topology = Topology::links;
    for (int a = 0; a < 8; ++a) {
      for (int b = a + 1; b < 8; ++b) {
        if (linked(a, b)) machine_.network.links.push_back({fmt::format("{}_{}", a, b), 25, 0});
      }
    }
    blocks_ = blocks_of(machine_, lay_out(machine_));
    knobs_ = knobs_of(machine_, blocks_, "atomic");
    for (const Knob& knob : knobs_) {
      for (const std::string& path : knob.paths) start_[path] = 10;
    }
  }

  static bool linked(int a, int b) { return (b - a) % 8 == 1 || (b - a) % 8 == 7 || b - a == 4; }
  // Neighbouring CPU numbers are on different nodes.
  static bool near(int a, int b) { return linked(std::min(a % 8, b % 8), std::max(a % 8, b % 8)); }

  static double link(const Values& values, int a, int b) {
    return values.at(fmt::format("machine.network.link.{}_{}.latency_ns", std::min(a, b), std::max(a, b)));
  }
  // Each link of the shortest path is passed twice, and controllers four times.
  static double between(const Values& values, int a, int b) {
    const double common = 60 + 4 * values.at("machine.node.latency_ns");
    double shortest = linked(std::min(a, b), std::max(a, b)) ? link(values, a, b) : 1e9;
    for (int over = 0; over < 8; ++over) {
      if (over == a || over == b || !linked(std::min(a, over), std::max(a, over))) continue;
      if (!linked(std::min(b, over), std::max(b, over))) continue;
      shortest = std::min(shortest, link(values, a, over) + link(values, over, b));
    }
    return common + 2 * shortest;
  }

  FitResult fitted_to(double near_ns, double far_ns, double noise) {
    const auto measured = made_up(
        16, [&](int a, int b) { return a % 8 == b % 8 ? 30
                                       : near(a, b)   ? near_ns
                                                      : far_ns; }, noise);
    within_ = squares(measured, means_of(measured));
    const auto matrix_of = [this](const Values& values) {
      ++simulations_;
      const double bus = 20 + values.at("machine.bus.intervention_clocks");
      return made_up(
          16, [&](int a, int b) { return a % 8 == b % 8 ? bus : between(values, a % 8, b % 8); }, 0);
    };
    FitResult result = fit(knobs_, blocks_, measured, start_, simulated_by(matrix_of));
    left_ = squares(measured, result.simulated);
    return result;
  }

  [[nodiscard]] LatencyMatrix means_of(const LatencyMatrix& measured) const {
    LatencyMatrix means(measured.cpus());
    for (const Block& block : blocks_) {
      for (const auto& [a, b] : block.pairs) means.set(a, b, mean_of(block, measured));
    }
    return means;
  }
  static double squares(const LatencyMatrix& one, const LatencyMatrix& other) {
    double sum = 0;
    for (int a = 0; a < one.cpus(); ++a) {
      for (int b = 0; b < a; ++b) sum += (one.at(a, b) - other.at(a, b)) * (one.at(a, b) - other.at(a, b));
    }
    return sum;
  }

  MachineSpec machine_;
  std::vector<Block> blocks_;
  std::vector<Knob> knobs_;
  Values start_;
  int simulations_ = 0;
  // Sums of squared deviations of all pairs: from their block's mean, and from the simulated latency.
  double within_ = 0, left_ = 0;
};

TEST_F(EightNodes, TwoDistancesGiveWhatLinksAndControllersCost) {
  // The difference between 220 and 140 is two passes of a link, 40 ns each. The nearer pairs leave nothing for the
  // controllers: 140 - 60 - 80 = 0.
  const FitResult result = fitted_to(140, 220, 0);
  EXPECT_NEAR(left_, 0, 1);
  EXPECT_EQ(result.end, SearchEnd::nothing_left);
  EXPECT_EQ(result.values.at("machine.node.latency_ns"), 0);
  EXPECT_NEAR(link(result.values, 0, 1), 40, 0.1);
  EXPECT_NEAR(link(result.values, 2, 6), 40, 0.1);
}

// If the links were fitted first and then the controllers, each once, the links would keep part of the controllers' cost.
TEST_F(EightNodes, WithNoiseLittleMoreIsLeftThanPairsOfTheSameNodesDifferBy) {
  // 14 parameters (12 links, controllers, bus) are fitted to 29 blocks of 4 or 8 pairs, 120 pairs in all. So (29 - 14) / 120
  // of the noise, an eighth, is between blocks and can't be absorbed. Because the shortest paths change with each step, up to
  // a third may be left.
  const FitResult result = fitted_to(180, 260, 0.05);
  EXPECT_EQ(result.end, SearchEnd::no_step_gains);
  EXPECT_LT(left_, 1.33 * within_);
  EXPECT_LT(simulations_, 150);
}

}  // namespace
}  // namespace linebounce::sim
