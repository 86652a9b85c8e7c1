// The stages that a machine reports to its listener. They must explain every miss: how long it took, and how long it waited.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "tests/models/support/small_machine.hpp"
#include "tests/models/support/stage_recorder.hpp"

namespace linebounce::test {
namespace {

// Three CPUs write and read the same few lines, so that messages meet in controllers, on links and at directories.
std::vector<Core::Program> contention() {
  std::vector<Core::Program> programs;
  for (int cpu = 0; cpu < 3; ++cpu) {
    programs.emplace_back([cpu](Cpu& self) {
      for (int i = 0; i < 30; ++i) {
        self.store(kLine + 0x10000 * static_cast<Address>((i + cpu) % 3), 1);
        self.load(kLine + 0x10000 * static_cast<Address>((i * 2) % 5));
        self.compute(7 * cpu);
      }
    });
  }
  return programs;
}

MachineSpec busy_nodes() {
  MachineSpec spec = small_nodes(3, 3);
  spec.node.occupancy_ns = 8;
  spec.node.request_crossing_ns = 3;
  spec.node.line_crossing_ns = 12;
  spec.network.bandwidth_mb_per_s = 1600;
  spec.memory.banks = 2;
  spec.memory.bank_busy_ns = 60;
  return spec;
}

struct Recorded {
  explicit Recorded(const MachineSpec& spec) : small(spec) {
    small.machine.set_step_listener(&recorder);
    small.run(contention());
  }
  SmallMachine small;
  StageRecorder recorder;
};

class Stages : public testing::TestWithParam<bool> {
 protected:
  Recorded run{GetParam() ? busy_nodes() : small_machine(3)};
};
INSTANTIATE_TEST_SUITE_P(, Stages, testing::Bool(), [](const auto& tested) { return tested.param ? "nodes" : "bus"; });

TEST_P(Stages, BeginWhereTheStageBeforeEnds) {
  ASSERT_FALSE(run.recorder.stages.empty());
  for (const Stage& stage : run.recorder.stages) {
    EXPECT_LE(stage.from, stage.to);
    EXPECT_LE(stage.queued, stage.to - stage.from);
    EXPECT_GE(stage.queued, 0);
    if (stage.after != kNoStage) {
      EXPECT_EQ(stage.from, run.recorder.at(stage.after).to);
    }
  }
}

// A miss ends when its line is filled. The stages before that lead back to the time when it was issued.
TEST_P(Stages, OfAMissAddUpToItsLatencyAndTheirWaitsToItsWaits) {
  std::vector<std::pair<Tick, Tick>> by_stages, by_misses;  // latency and waits
  for (const Stage& last : run.recorder.stages) {
    if (last.what != Stage::What::fill) continue;
    auto& [latency, waits] = by_stages.emplace_back();
    for (const Stage* stage = &last;; stage = &run.recorder.at(stage->after)) {
      latency += stage->to - stage->from;
      waits += stage->queued;
      if (stage->after == kNoStage) break;
    }
  }
  for (const Miss& miss : run.small.misses()) by_misses.emplace_back(miss.latency, miss.waits.total());
  std::sort(by_stages.begin(), by_stages.end());
  std::sort(by_misses.begin(), by_misses.end());
  EXPECT_EQ(by_stages, by_misses);
}

// The controllers of a node take one message in at a time, and each keeps the others out for 8 ns.
TEST(StagesOfNodes, HoldTheirNodesControllersOneAfterTheOther) {
  Recorded run(busy_nodes());
  const Tick occupancy = run.small.machine.timebase().from_ns(8);
  std::map<int, std::vector<Tick>> begins;
  for (const Stage& stage : run.recorder.stages) {
    if (stage.what != Stage::What::inbox) continue;
    EXPECT_EQ(stage.held_from, stage.to);
    EXPECT_EQ(stage.held_until - stage.held_from, occupancy);
    begins[stage.at.number].push_back(stage.held_from);
  }
  ASSERT_EQ(begins.size(), 3U);
  for (auto& [node, times] : begins) {
    std::sort(times.begin(), times.end());
    for (std::size_t i = 1; i < times.size(); ++i) EXPECT_GE(times[i] - times[i - 1], occupancy) << "node " << node;
  }
}

}  // namespace
}  // namespace linebounce::test
