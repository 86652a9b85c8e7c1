#include "commands/calibrate/numbering.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace linebounce::sim {
namespace {

// A CPU's place in its machine, from which orders are made.
struct NumberedCpu {
  TopologyCpu cpu;
  int thread = 0;   // in its core: 0 for the first
  int in_node = 0;  // in its node
};

std::vector<NumberedCpu> places_of(const MachineTopology& topology) {
  std::map<int, int> threads, in_node;
  std::vector<NumberedCpu> places;
  for (const TopologyCpu& cpu : topology.cpus) places.push_back({cpu, threads[cpu.core]++, in_node[cpu.node]++});
  return places;
}

using Key = std::tuple<int, int, int, int, int>;

struct Order {
  const char* name;
  Key (*key)(const NumberedCpu& place);
};
constexpr std::array<Order, 4> kOrders = {{
    {"in the order of nodes, with the threads of a core one after the other",
     [](const NumberedCpu& place) { return Key(place.cpu.node, place.cpu.cache, place.cpu.core, place.thread, 0); }},
    {"in the order of nodes, first one thread of each core, then the others",
     [](const NumberedCpu& place) { return Key(place.thread, place.cpu.node, place.cpu.cache, place.cpu.core, 0); }},
    {"in turns of the nodes", [](const NumberedCpu& place) { return Key(place.in_node, place.cpu.node, 0, 0, 0); }},
    {"in turns of the nodes, first one thread of each core, then the others",
     [](const NumberedCpu& place) { return Key(place.thread, place.in_node, place.cpu.node, 0, 0); }},
}};

double spread_of(const LatencyMatrix& matrix, const std::vector<NumberedCpu>& order) {
  std::map<std::tuple<bool, bool, int, int>, std::vector<double>> kinds;
  double sum = 0;
  int pairs = 0;
  for (int a = 0; a < matrix.cpus(); ++a) {
    for (int b = 0; b < a; ++b) {
      const TopologyCpu &one = order[a].cpu, &other = order[b].cpu;
      kinds[{one.core == other.core, one.cache == other.cache, std::min(one.node, other.node), std::max(one.node, other.node)}]
          .push_back(matrix.at(a, b));
      sum += matrix.at(a, b);
      ++pairs;
    }
  }
  if (pairs == 0 || sum <= 0) return 0;
  double squares = 0;
  for (const auto& [kind, ns] : kinds) {
    const double mean = std::accumulate(ns.begin(), ns.end(), 0.0) / static_cast<double>(ns.size());
    for (const double one : ns) squares += (one - mean) * (one - mean);
  }
  return std::sqrt(squares / pairs) / (sum / pairs);
}

}  // namespace

bool NumberingFits::differ() const {
  constexpr double kContradicts = 0.15;  // a machine's own latencies of one kind of pair are within a few percent
  return given.spread > kContradicts && 2 * best.spread < given.spread;
}

NumberingFits compare_numberings(const LatencyMatrix& matrix, const MachineTopology& topology) {
  const std::vector<NumberedCpu> numbered = places_of(topology);
  const NumberingFit given{"numbered alike", spread_of(matrix, numbered)};
  NumberingFits fits{given, given};
  for (const Order& order : kOrders) {
    std::vector<NumberedCpu> places = numbered;
    std::ranges::stable_sort(places, {}, order.key);
    if (const double spread = spread_of(matrix, places); spread < fits.best.spread) fits.best = {order.name, spread};
  }
  return fits;
}

}  // namespace linebounce::sim
