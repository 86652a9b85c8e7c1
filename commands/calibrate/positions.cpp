#include "commands/calibrate/positions.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>

#include "commands/calibrate/mesh.hpp"
#include "models/ordinal.hpp"

namespace linebounce::sim {
namespace {

// Positions are used only if at most this share of the held-out pairs' sum of squares remains.
constexpr double kLeftAtMost = 0.97;
constexpr double kLeastNs = 0.05;  // smallest useful gain in the RMS of held-out pairs
constexpr int kHalvings = 4;       // number of splits; each holds out another half of the pairs
constexpr int kNoSplit = -1;       // fit to all pairs
constexpr int kSweeps = 200;       // rounds of fitting; each fits the means and then the ways
// Applied part of each correction; the whole would count twice, once at each core of a pair.
constexpr double kStep = 0.7;
constexpr std::size_t kPairsForEach = 3;  // fewest pairs for each fitted way
constexpr std::size_t kLeastOnMesh = 12;  // cores
constexpr int kImputations = 3;

// A pair of CPUs.
struct PairOfCores {
  std::size_t one = 0, other = 0;  // cores
  std::size_t block = 0;
  Distance distance = Distance::same_bus;
  std::uint32_t held = 0;  // bit i: split i holds out this pair
  double ns = 0;
};

// The pairs whose latencies contain a core's way. bus: those with other cores of its bus; edge: those with anything beyond
// the bus.
enum class Reach { bus, edge };
bool reaches(const PairOfCores& pair, Reach reach) {
  if (pair.distance == Distance::same_core) return false;
  return (pair.distance == Distance::same_bus) == (reach == Reach::bus);
}

struct Terms {
  bool ways = false, edges = false, mesh = false;
};

struct Model {
  std::vector<double> means;        // by block
  std::vector<bool> seen;           // by block: true if a pair of it was fitted, not held out
  std::vector<double> ways, edges;  // by core; 0: no way is known
  Mesh mesh;

  [[nodiscard]] double at(const PairOfCores& pair) const {
    double ns = means[pair.block];
    if (pair.distance == Distance::same_core) return ns;
    if (pair.distance != Distance::same_bus) return ns + edges[pair.one] + edges[pair.other];
    if (!mesh.places.empty()) ns += mesh.hop * hops_between(mesh.places[pair.one], mesh.places[pair.other]);
    return ns + ways[pair.one] + ways[pair.other];
  }
};

// The splits that hold out this pair of CPUs, as bits (PairOfCores::held). Hashing the pair spreads each split's half over
// all CPUs.
std::uint32_t splits_without(int a, int b) {
  auto mixed = static_cast<std::uint32_t>(a) * 2654435761U + static_cast<std::uint32_t>(b) * 2246822519U;
  mixed ^= mixed >> 15U;
  mixed *= 2654435761U;
  return mixed >> (32U - kHalvings);
}

class Positioning {
 public:
  Positioning(const LatencyMatrix& measured, const MachineLayout& layout, const std::vector<Block>& blocks) {
    for (const CpuPlace& place : layout.cpus) cores_ = std::max<std::size_t>(cores_, place.core + 1);
    bus_of_.resize(cores_);
    for (const CpuPlace& place : layout.cpus) bus_of_[place.core] = place.bus;
    one_bus_ = std::all_of(layout.cpus.begin(), layout.cpus.end(),
                           [&](const CpuPlace& place) { return place.bus == layout.cpus.front().bus; });
    for (const Block& block : blocks) {
      for (const auto& [a, b] : block.pairs) {
        const auto core = [&](int cpu) { return static_cast<std::size_t>(layout.cpus[cpu].core); };
        pairs_.push_back({core(a), core(b), blocks_, block.distance, splits_without(a, b), measured.at(a, b)});
      }
      ++blocks_;
    }
  }

  FoundPositions find() {
    FoundPositions found;
    if (pairs_.empty()) return found;
    Terms terms;
    double left = held_out(terms);
    found.held_out_without = rms(left);
    if (choose_units(Reach::bus)) take_if_better(terms, left, [](Terms& with) { with.ways = true; });
    if (choose_units(Reach::edge)) take_if_better(terms, left, [](Terms& with) { with.edges = true; });
    if (terms.ways && one_bus_ && cores_ >= kLeastOnMesh) {
      take_if_better(terms, left, [](Terms& with) { with.mesh = true; });
    }
    found.held_out = rms(left);
    if (terms.ways || terms.edges) found.positions = positions_of(fitted(terms, kNoSplit), terms);
    return found;
  }

 private:
  // RMS deviation over all held-out pairs, from the sum of squares. A pair counts once for each split that holds it out.
  [[nodiscard]] double rms(double squares) const {
    double held = 0;
    for (const PairOfCores& pair : pairs_) held += std::popcount(pair.held);
    return std::sqrt(squares / std::max(held, 1.0));
  }
  static bool is_held(const PairOfCores& pair, int split) {
    return split != kNoSplit && (pair.held >> static_cast<unsigned>(split) & 1U) != 0;
  }

  // Gives each core a way of its own if there are enough pairs for so many ways, else one way to all cores of a bus. False if
  // there are not enough pairs for that either: ways would then only restate the pairs.
  [[nodiscard]] bool choose_units(Reach reach) {
    std::vector<std::size_t>& units = units_[ordinal(reach)];
    units.resize(cores_);
    std::iota(units.begin(), units.end(), 0);
    if (enough_pairs(reach)) return true;
    units = bus_of_;
    return enough_pairs(reach);
  }

  [[nodiscard]] std::size_t unit(std::size_t core, Reach reach) const { return units_[ordinal(reach)][core]; }

  [[nodiscard]] bool enough_pairs(Reach reach) const {
    std::set<std::size_t> units;
    std::size_t pairs = 0;
    for (const PairOfCores& pair : pairs_) {
      if (!reaches(pair, reach)) continue;
      units.insert({unit(pair.one, reach), unit(pair.other, reach)});
      ++pairs;
    }
    return units.size() > 1 && pairs >= kPairsForEach * units.size();
  }

  template <class Add>
  void take_if_better(Terms& terms, double& left, Add add) const {
    Terms with = terms;
    add(with);
    const double squares = held_out(with);
    if (squares > kLeftAtMost * left || rms(left) - rms(squares) < kLeastNs) return;
    terms = with;
    left = squares;
  }

  // For all splits, the sum of squares of the held-out pairs after a fit to the others.
  [[nodiscard]] double held_out(const Terms& terms) const {
    double squares = 0;
    for (int split = 0; split < kHalvings; ++split) {
      const Model model = fitted(terms, split);
      for (const PairOfCores& pair : pairs_) {
        if (is_held(pair, split) && model.seen[pair.block]) squares += (pair.ns - model.at(pair)) * (pair.ns - model.at(pair));
      }
    }
    return squares;
  }

  // Alternating least squares: fits the blocks' means, then what each core adds to all its pairs, and repeats.
  [[nodiscard]] Model fitted(const Terms& terms, int split) const {
    Model model{
        std::vector<double>(blocks_), std::vector<bool>(blocks_), std::vector<double>(cores_), std::vector<double>(cores_), {}};
    if (terms.mesh) model.mesh = mesh_from(split);
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      move_means(model, split);
      if (terms.ways) move_cores(model, model.ways, Reach::bus, split);
      if (terms.edges) move_cores(model, model.edges, Reach::edge, split);
    }
    move_means(model, split);
    return model;
  }

  void move_means(Model& model, int split) const {
    std::vector<double> off(blocks_);
    std::vector<double> count(blocks_);
    for (const PairOfCores& pair : pairs_) {
      if (is_held(pair, split)) continue;
      off[pair.block] += pair.ns - model.at(pair);
      ++count[pair.block];
    }
    for (std::size_t block = 0; block < blocks_; ++block) {
      if (count[block] > 0) model.means[block] += off[block] / count[block];
      model.seen[block] = count[block] > 0;
    }
  }

  void move_cores(const Model& model, std::vector<double>& ways, Reach reach, int split) const {
    std::vector<double> off(cores_);
    std::vector<double> count(cores_);
    for (const PairOfCores& pair : pairs_) {
      if (!reaches(pair, reach) || (is_held(pair, split))) continue;
      const double rest = pair.ns - model.at(pair);
      for (const std::size_t core : {pair.one, pair.other}) off[unit(core, reach)] += rest, ++count[unit(core, reach)];
    }
    for (std::size_t core = 0; core < cores_; ++core) {
      const std::size_t at = unit(core, reach);
      if (count[at] > 0) ways[core] += kStep * off[at] / count[at];
    }
  }

  // Fits a mesh to what the ways do not explain. Held-out pairs have no values of their own: they get those that the ways
  // predict and, in later rounds, those that the last mesh predicts.
  [[nodiscard]] Mesh mesh_from(int split) const {
    Terms terms;
    terms.ways = true;
    const Model ways = fitted(terms, split);
    Mesh mesh;
    for (int round = 0; round < (split != kNoSplit ? kImputations : 1); ++round) mesh = find_mesh(rest_of(ways, mesh, split));
    return mesh;
  }

  [[nodiscard]] Square rest_of(const Model& ways, const Mesh& mesh, int split) const {
    Square sums(cores_);
    Square counts(cores_);
    for (const PairOfCores& pair : pairs_) {
      if (is_held(pair, split) || !reaches(pair, Reach::bus)) continue;
      sums.set(pair.one, pair.other, sums.at(pair.one, pair.other) + pair.ns - ways.at(pair));
      counts.set(pair.one, pair.other, counts.at(pair.one, pair.other) + 1);
    }
    Square hops(cores_);
    for (std::size_t a = 0; a < cores_ && !mesh.places.empty(); ++a) {
      for (std::size_t b = 0; b < a; ++b) hops.set(a, b, mesh.hop * hops_between(mesh.places[a], mesh.places[b]));
    }
    const Square imagined = without_rows(hops);
    Square rest(cores_);
    for (std::size_t a = 0; a < cores_; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        rest.set(a, b, counts.at(a, b) > 0 ? sums.at(a, b) / counts.at(a, b) : imagined.at(a, b));
      }
    }
    return without_rows(rest);
  }

  // Ways in ns, rounded to 0.1, relative to the nearest core, whose way is 0. What all cores have in common belongs to the
  // bus.
  [[nodiscard]] std::vector<double> above_the_nearest(const std::vector<double>& ways, Reach reach) const {
    std::vector<bool> seen(cores_);
    for (const PairOfCores& pair : pairs_) {
      if (reaches(pair, reach)) seen[pair.one] = seen[pair.other] = true;
    }
    std::optional<double> least;
    for (std::size_t core = 0; core < cores_; ++core) {
      if (seen[core]) least = std::min(least.value_or(ways[core]), ways[core]);
    }
    std::vector<double> above;
    for (std::size_t core = 0; core < cores_; ++core) {
      above.push_back(seen[core] ? std::round(10 * (ways[core] - least.value_or(0))) / 10 : 0);
    }
    return above;
  }

  [[nodiscard]] Positions positions_of(const Model& model, const Terms& terms) const {
    Positions positions;
    if (terms.ways) positions.way_ns = above_the_nearest(model.ways, Reach::bus);
    if (terms.edges) positions.edge_way_ns = above_the_nearest(model.edges, Reach::edge);
    for (const auto& [taken, reach] : {std::pair(terms.ways, Reach::bus), {terms.edges, Reach::edge}}) {
      const auto& units = units_[ordinal(reach)];
      // leaves out the nearest core, whose way is 0 by definition
      if (taken) positions.parameters += static_cast<int>(std::set<std::size_t>(units.begin(), units.end()).size()) - 1;
    }
    if (!terms.mesh) return positions;
    positions.places = model.mesh.places;
    positions.hop_ns = std::round(100 * model.mesh.hop) / 100;
    // Places: a column and a row for each core but one, because the grid's position is arbitrary; and the latency of a hop.
    positions.parameters += 2 * (static_cast<int>(cores_) - 1) + 1;
    return positions;
  }

  std::size_t cores_ = 0, blocks_ = 0;
  bool one_bus_ = false;
  std::vector<std::size_t> bus_of_;                // by core
  std::array<std::vector<std::size_t>, 2> units_;  // by reach and core: cores with the same number share a way
  std::vector<PairOfCores> pairs_;
};

}  // namespace

double Positions::between(const CpuPlace& one, const CpuPlace& other) const {
  if (one.core == other.core) return 0;
  const std::size_t a = one.core;
  const std::size_t b = other.core;
  if (one.bus != other.bus) return edge_way_ns.empty() ? 0 : edge_way_ns[a] + edge_way_ns[b];
  double ns = way_ns.empty() ? 0 : way_ns[a] + way_ns[b];
  if (!places.empty()) ns += hop_ns * hops_between(places[a], places[b]);
  return ns;
}

FoundPositions find_positions(const LatencyMatrix& measured, const MachineLayout& layout, const std::vector<Block>& blocks) {
  return Positioning(measured, layout, blocks).find();
}

LatencyMatrix without_positions(const LatencyMatrix& matrix, const MachineLayout& layout, const Positions& positions) {
  LatencyMatrix rest(matrix.cpus());
  for (int a = 0; a < matrix.cpus(); ++a) {
    for (int b = 0; b < a; ++b) {
      const CpuPlace& one = layout.cpus[a];
      const CpuPlace& other = layout.cpus[b];
      rest.set(a, b, matrix.at(a, b) - positions.between(one, other));
    }
  }
  return rest;
}

}  // namespace linebounce::sim
