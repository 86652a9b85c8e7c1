#include "sim/studies/calibrate/fit.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/studies/calibrate/least_squares.hpp"

namespace linebounce::sim {
namespace {

constexpr int kMostSteps = 3;         // after the first the latencies are linear but for whole clocks
constexpr double kGoodShare = 0.002;  // of a block's mean: nobody measures better
constexpr double kWorthIt = 0.98;     // a change must take off two percent of the sum of squares
constexpr double kProbeShare = 0.25;  // of a value, to see what it does
constexpr double kProbeNs = 2;        // at least
constexpr double kSame = 1e-9;

std::vector<std::size_t> blocks_at(const std::vector<Block>& blocks, Distance distance) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].distance == distance) found.push_back(i);
  }
  return found;
}

Knob cycles(std::vector<std::string> paths, double minimum = 0) {
  return {std::move(paths), minimum, 1};
}
Knob ns(const std::string& path) {
  return {{path}, 0, 0.1};
}

// A snoop takes at least one clock. All clocks of the bus are as long, so the later turns only find something to do where the
// machine is too slow even without those before; the core's clock then takes what is less than a clock of the bus.
std::vector<std::vector<Knob>> bus_turns() {
  return {{cycles({"machine.bus.intervention_clocks"})},
          {cycles({"machine.bus.snoop_clocks"}, 1)},
          {cycles({"machine.bus.latch_clocks"})},
          {cycles({"machine.bus.arbitration_clocks"})},
          {cycles({"machine.cpu.fill_latency_cycles"})}};
}

std::vector<std::vector<Knob>> network_turns(const MachineSpec& machine, const std::vector<Block>& blocks) {
  std::vector<Knob> first;
  for (const LinkSpec& link : machine.network.links) first.push_back(ns("machine.network.link." + link.name + ".latency_ns"));
  if (first.empty()) first.push_back(ns("machine.network.latency_ns"));
  std::vector<std::vector<Knob>> turns = {first};
  // Where pairs are near and far, what they have in common is not the links'; where buses share a node it is known from those.
  const bool controller_free = blocks_at(blocks, Distance::same_node).empty();
  std::set<int> distances;
  for (const Block& block : blocks) {
    if (block.distance == Distance::other_node) distances.insert(block.links);
  }
  if (controller_free && distances.size() > 1 && machine.network.links.empty()) {
    turns.front().push_back(ns("machine.node.latency_ns"));
  } else if (controller_free) {
    turns.push_back({ns("machine.node.latency_ns")});
  }
  if (controller_free) turns.push_back({ns("machine.directory.latency_ns")});
  return turns;
}

class Fitter {
 public:
  Fitter(const std::vector<Block>& blocks, const LatencyMatrix& measured, const Values& start, const SimulateMatrices& simulate)
      : blocks_(blocks), measured_(measured), simulate_(simulate), start_(start), values_(start) {
    simulated_ = simulate_({values_}).front();
  }

  void run(const Stage& stage) {
    for (const auto& turn : stage.turns) {
      if (good_enough(stage)) return;
      run_turn(stage, turn);
    }
  }

  FitResult result() && {
    FitResult result{{}, std::move(simulated_)};
    for (const auto& [path, value] : values_) {
      if (std::fabs(value - start_.at(path)) > kSame) result.values.emplace(path, value);
    }
    return result;
  }

 private:
  [[nodiscard]] double value_of(const Knob& knob) const { return values_.at(knob.paths.front()); }

  static Values with(Values values, const Knob& knob, double value) {
    for (const std::string& path : knob.paths) values.at(path) = value;
    return values;
  }

  static double on_grid(const Knob& knob, double value) {
    const double steps = std::round(std::max(value, knob.minimum) / knob.step);
    // 0.1 has no exact double: ten times as many tenths, divided, is the one nearest to what a person would write.
    return knob.step < 1 ? steps / std::round(1 / knob.step) : steps * knob.step;
  }

  static double probe(const Knob& knob, double value) {
    const double by = std::max({value * kProbeShare, knob.step, knob.step < 1 ? kProbeNs : 0.0});
    return on_grid(knob, value + by);
  }

  [[nodiscard]] double residual(std::size_t block, const LatencyMatrix& simulated) const {
    return mean_of(blocks_[block], measured_) - mean_of(blocks_[block], simulated);
  }

  [[nodiscard]] bool good_enough(const Stage& stage) const {
    return std::all_of(stage.blocks.begin(), stage.blocks.end(), [this](std::size_t block) {
      return std::fabs(residual(block, simulated_)) <= kGoodShare * mean_of(blocks_[block], measured_);
    });
  }

  [[nodiscard]] double squares(const Stage& stage, const LatencyMatrix& simulated) const {
    double sum = 0;
    for (const std::size_t block : stage.blocks) {
      const double off = residual(block, simulated);
      sum += off * off * static_cast<double>(blocks_[block].pairs.size());
    }
    return sum;
  }

  // slopes[i][k]: by how much the mean of the stage's block i rises with a unit of knob k.
  [[nodiscard]] std::vector<std::vector<double>> slopes_of(const Stage& stage, const std::vector<Knob>& turn) const {
    std::vector<Values> probes;
    for (const Knob& knob : turn) probes.push_back(with(values_, knob, probe(knob, value_of(knob))));
    const std::vector<LatencyMatrix> probed = simulate_(probes);
    std::vector<std::vector<double>> slopes;
    for (const std::size_t block : stage.blocks) {
      auto& row = slopes.emplace_back();
      for (std::size_t k = 0; k < turn.size(); ++k) {
        const double by = probe(turn[k], value_of(turn[k])) - value_of(turn[k]);
        row.push_back((mean_of(blocks_[block], probed[k]) - mean_of(blocks_[block], simulated_)) / by);
      }
    }
    return slopes;
  }

  [[nodiscard]] Values next_values(const Stage& stage, const std::vector<Knob>& turn,
                                   const std::vector<std::vector<double>>& slopes) const {
    std::vector<double> wanted;
    std::vector<double> weights;
    for (const std::size_t block : stage.blocks) {
      wanted.push_back(residual(block, simulated_));
      weights.push_back(static_cast<double>(blocks_[block].pairs.size()));
    }
    std::vector<double> least;
    for (const Knob& knob : turn) least.push_back(std::min(0.0, knob.minimum - value_of(knob)));
    const std::vector<double> change = least_squares(slopes, wanted, weights, least);
    Values next = values_;
    for (std::size_t k = 0; k < turn.size(); ++k) next = with(next, turn[k], on_grid(turn[k], value_of(turn[k]) + change[k]));
    return next;
  }

  void run_turn(const Stage& stage, const std::vector<Knob>& turn) {
    const auto slopes = slopes_of(stage, turn);
    for (int step = 0; step < kMostSteps; ++step) {
      Values next = next_values(stage, turn, slopes);
      if (next == values_) return;
      LatencyMatrix simulated = simulate_({next}).front();
      if (squares(stage, simulated) > kWorthIt * squares(stage, simulated_)) return;
      values_ = std::move(next);
      simulated_ = std::move(simulated);
      if (good_enough(stage)) return;
    }
  }

  const std::vector<Block>& blocks_;
  const LatencyMatrix& measured_;
  const SimulateMatrices& simulate_;
  const Values start_;
  Values values_;
  LatencyMatrix simulated_;
};

}  // namespace

std::vector<Stage> stages_of(const MachineSpec& machine, const std::vector<Block>& blocks, const std::string& access) {
  std::vector<Stage> stages;
  const auto add = [&](Distance distance, std::vector<std::vector<Knob>> turns) {
    if (auto found = blocks_at(blocks, distance); !found.empty()) stages.push_back({std::move(found), std::move(turns)});
  };
  // Between threads of a core the line stays where it is. The measured program compares and exchanges, the simulated one adds.
  const Knob own_line = access == "atomic"
                            ? cycles({"machine.cpu.atomic_latency_cycles", "machine.cpu.compare_exchange_latency_cycles"})
                            : cycles({"machine.cache." + machine.caches.front().name + ".hit_latency_cycles"}, 1);
  add(Distance::same_core, {{own_line}});
  add(Distance::same_bus, bus_turns());
  add(Distance::same_node, {{ns("machine.node.latency_ns")}, {ns("machine.directory.latency_ns")}});
  add(Distance::other_node, network_turns(machine, blocks));
  return stages;
}

FitResult fit(const std::vector<Stage>& stages, const std::vector<Block>& blocks, const LatencyMatrix& measured,
              const Values& start, const SimulateMatrices& simulate) {
  Fitter fitter(blocks, measured, start, simulate);
  for (const Stage& stage : stages) fitter.run(stage);
  return std::move(fitter).result();
}

}  // namespace linebounce::sim
