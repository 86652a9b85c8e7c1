#include "sim/studies/calibrate/fit.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "matrices.hpp"
#include "sim/config/machine_file.hpp"
#include "sim/studies/calibrate/least_squares.hpp"

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

TEST(LeastSquares, WhatNothingDependsOnStays) {
  EXPECT_THAT(least_squares({{0, 2}}, {6}, {1}, {-5, -5}), ElementsAre(0, 3));
}

// A machine whose latencies are linear: 4 CPUs in 2 nodes on one link.
class Fit : public ::testing::Test {
 protected:
  Fit() {
    machine_ = load_machine("generic_2socket_32core").spec;
    machine_.cpus = machine_.cpus_present = 4;
    blocks_ = blocks_of(machine_, lay_out(machine_));
    stages_ = stages_of(machine_, blocks_, "atomic");
    for (const Stage& stage : stages_) {
      for (const auto& turn : stage.turns) {
        for (const Knob& knob : turn) start_[knob.paths.front()] = 10;
      }
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
    return fit(stages_, blocks_, measured, start_, [this](const std::vector<Values>& candidates) {
      std::vector<LatencyMatrix> matrices;
      for (const Values& values : candidates) matrices.push_back(matrix_of(values));
      return matrices;
    });
  }

  MachineSpec machine_;
  std::vector<Block> blocks_;
  std::vector<Stage> stages_;
  Values start_;
  int simulations_ = 0;
};

TEST_F(Fit, TheBusComesFirstThenTheNetworkWithWhatTheBusHasBecome) {
  // 10 + (10 + 10) / 2 + 10 / 3 = 23.33 is to be 40.33: 34 clocks more. 40.33 + 20 + 40 + 2 * 15 is what the network then has
  // to be.
  const FitResult result = fitted_to(40.3333, 130.3333);
  EXPECT_THAT(result.values, ElementsAre(Pair("machine.bus.intervention_clocks", 44), Pair("machine.network.latency_ns", 15)));
}

TEST_F(Fit, AMachineThatIsRightStaysAsItIs) {
  EXPECT_TRUE(fitted_to(23.3333, 103.3333).values.empty());
  EXPECT_EQ(simulations_, 1);
}

TEST_F(Fit, WhatOneParameterCannotTakeTheNextOneDoes) {
  // 5 ns are 10 clocks of the bus; 3 ns less than that are 6 more; the network is to be 0, the controllers' 4 passes 15 ns.
  const FitResult result = fitted_to(15.3333, 50.3333);
  EXPECT_EQ(result.values.at("machine.bus.intervention_clocks"), 0);
  EXPECT_EQ(result.values.at("machine.bus.snoop_clocks"), 4);
  EXPECT_EQ(result.values.at("machine.network.latency_ns"), 0);
  EXPECT_NEAR(result.values.at("machine.node.latency_ns"), 3.75, 0.06);
}

TEST_F(Fit, LessThanAClockOfTheBusIsTheCores) {
  // 23.33 + 10.2: 20 clocks of half a nanosecond, 0.2 ns are less than a clock but one of the core's thirds is nearer than
  // none.
  const FitResult result = fitted_to(33.5333, 113.5333);
  EXPECT_EQ(result.values.at("machine.bus.intervention_clocks"), 30);
  EXPECT_EQ(result.values.at("machine.cpu.fill_latency_cycles"), 11);
}

}  // namespace
}  // namespace linebounce::sim
