#include "commands/calibrate/structure.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace linebounce::sim {
namespace {

// Smallest ratio between the distances of two levels. The noise of a quiet machine is less than half of the step that this
// requires.
constexpr double kClear = 1.2;
constexpr double kNearThread = 0.6;  // threads of a core are at most this share of the distance to other cores apart
constexpr double kThreadNs = 15;     // and at most this many ns apart; published figures are 4 to 12
// As kClear, for nodes; smaller, because means over blocks have much less noise than single pairs.
constexpr double kFartherNode = 1.1;

constexpr std::size_t kMostSockets = 8;  // more groups must be tiles of one chip with one memory
// Limit on links: all links of eight nodes. Each step of the fit simulates one machine per link.
constexpr std::size_t kMostLinks = 28;

using Groups = std::vector<std::vector<int>>;  // each group is sorted; groups are sorted by their first members

double mean_between(const LatencyMatrix& matrix, const std::vector<int>& a, const std::vector<int>& b) {
  double sum = 0;
  for (const int i : a) {
    for (const int j : b) sum += matrix.at(i, j);
  }
  return sum / static_cast<double>(a.size() * b.size());
}

// The median distance between two groups. Unlike the mean, it does not follow a single slow pair.
double median_between(const LatencyMatrix& matrix, const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<double> between;
  for (const int i : a) {
    for (const int j : b) between.push_back(matrix.at(i, j));
  }
  const auto middle = between.begin() + static_cast<std::ptrdiff_t>((between.size() - 1) / 2);
  std::nth_element(between.begin(), middle, between.end());
  return *middle;
}

// The groups after a merge, and the distance of the two that were merged.
struct Cut {
  Groups groups;
  double merged = 0;
};

// The finest cut first.
std::vector<Cut> merged_step_by_step(const LatencyMatrix& matrix) {
  Groups groups;
  for (int cpu = 0; cpu < matrix.cpus(); ++cpu) groups.push_back({cpu});
  std::vector<Cut> cuts;
  while (groups.size() > 2) {
    std::pair<std::size_t, std::size_t> nearest{0, 1};
    double least = median_between(matrix, groups[0], groups[1]);
    for (std::size_t a = 0; a < groups.size(); ++a) {
      for (std::size_t b = a + 1; b < groups.size(); ++b) {
        const double distance = median_between(matrix, groups[a], groups[b]);
        if (distance < least) least = distance, nearest = {a, b};
      }
    }
    auto& [into, from] = nearest;
    groups[into].insert(groups[into].end(), groups[from].begin(), groups[from].end());
    std::ranges::sort(groups[into]);
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(from));
    cuts.push_back({groups, least});
  }
  return cuts;
}

// The distance that nine in ten values do not exceed.
double farthest_but_a_tenth(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() - 1 - (values.size() - 1) / 10];
}
double nearest_but_a_tenth(std::vector<double> values) {
  std::ranges::sort(values);
  return values[(values.size() - 1) / 10];
}

std::vector<double> distances_within(const LatencyMatrix& matrix, const Groups& groups) {
  std::vector<double> within;
  for (const auto& group : groups) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) within.push_back(matrix.at(group[i], group[j]));
    }
  }
  return within;
}

// True if the groups are clearly apart. A few slow pairs within groups are allowed, as in real measurements. But if a tenth
// of the pairs between two groups are near, the two are one group, or neighbours in a ring.
bool clearly_apart(const LatencyMatrix& matrix, const Groups& groups) {
  const double inside = farthest_but_a_tenth(distances_within(matrix, groups));
  for (std::size_t a = 0; a < groups.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      std::vector<double> between;
      for (const int i : groups[a]) {
        for (const int j : groups[b]) between.push_back(matrix.at(i, j));
      }
      const double nearest = nearest_but_a_tenth(between);
      if (nearest <= 0 || nearest < inside * kClear) return false;
    }
  }
  return true;
}

bool same_sizes(const Groups& groups) {
  return std::ranges::all_of(groups, [&](const auto& group) { return group.size() == groups[0].size(); });
}

// How much the mean distance of other groups to each other may differ from their mean distance to the first group and still
// count as equal.
constexpr double kAsFar = 0.15;

bool has_single(const Groups& groups) {
  return std::ranges::any_of(groups, [](const auto& group) { return group.size() == 1; });
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// True if the groups of the finest level are the threads of cores. `next`: the groups of the next level, for comparison.
bool are_threads(const LatencyMatrix& matrix, const Groups& finest, const Groups& next) {
  const std::size_t size = finest[0].size();
  if (size != 2 && size != 4 && size != 8) return false;
  const double own = mean(distances_within(matrix, finest));
  return own <= kThreadNs && own <= kNearThread * mean(distances_within(matrix, next));
}

// True if some cores have several threads, all the same number, and others have one, as in hybrid processors.
bool are_threads_of_some(const LatencyMatrix& matrix, const Groups& cut) {
  Groups several;
  Groups all(1);
  for (const auto& group : cut) {
    if (group.size() > 1) several.push_back(group);
    all[0].insert(all[0].end(), group.begin(), group.end());
  }
  return several.size() > 1 && same_sizes(several) && are_threads(matrix, several, all);
}

class Finder {
 public:
  explicit Finder(const LatencyMatrix& matrix) : matrix_(matrix) {}

  Structure find() {
    find_levels();
    Groups all(1);
    for (int cpu = 0; cpu < matrix_.cpus(); ++cpu) all[0].push_back(cpu);
    Groups cores = single_cores();
    if (!levels_.empty() && same_sizes(levels_.front()) &&
        are_threads(matrix_, levels_.front(), levels_.size() > 1 ? levels_[1] : all)) {
      cores = levels_.front();
      levels_.erase(levels_.begin());
    } else if (const Groups numbered = threads_as_numbered(); !numbered.empty()) {
      cores = numbered;
    } else if (!some_threads_.empty()) {
      cores = some_threads_;
    }
    const bool tiles = levels_.size() == 1 && levels_.front().size() > kMostSockets;
    Groups nodes = levels_.empty() || tiles ? all : levels_.back();
    const Groups buses = levels_.size() > 1 || tiles || !sockets_.empty() ? levels_.front() : nodes;
    if (!sockets_.empty()) nodes = sockets_;
    for (std::size_t i = 1; i + 1 < levels_.size(); ++i) {
      found_.notes.push_back(fmt::format(
          "The matrix has a level of {} groups between buses and nodes; a machine has none there.", levels_[i].size()));
    }
    return take({nodes, buses, cores});
  }

  Structure take(const CpuGroups& groups) {
    found_.nodes = static_cast<int>(groups.nodes.size());
    const Groups in_order = in_network_order(groups.nodes);
    found_.threads_per_core = most_members(groups.cores);
    found_.cores_per_bus = most_parts(groups.buses, groups.cores);
    found_.buses_per_node = most_parts(in_order, groups.buses);
    if (!sockets_.empty()) found_.home = static_cast<int>(std::ranges::find(in_order, home_) - in_order.begin());
    seat(in_order, groups.buses, groups.cores);
    return std::move(found_);
  }

 private:
  void find_levels() {
    for (const auto& [cut, merged] : merged_step_by_step(matrix_)) {
      if (!clearly_apart(matrix_, cut) || (!same_sizes(cut) && !all_merged(cut, merged))) continue;
      if (has_single(cut)) {
        if (are_threads_of_some(matrix_, cut)) some_threads_ = cut;
      } else if (!is_one_socket_and_groups(cut)) {
        levels_.push_back(cut);
      }
    }
  }

  // True if all groups are clearly farther apart than the two that were merged last. Groups that differ in size are a level
  // only then.
  [[nodiscard]] bool all_merged(const Groups& cut, double merged) const {
    for (std::size_t a = 0; a < cut.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (median_between(matrix_, cut[a], cut[b]) < kClear * merged) return false;
      }
    }
    return true;
  }

  // True if all groups of one socket have been merged, but those of the other are still as on the previous level.
  bool is_one_socket_and_groups(const Groups& cut) {
    if (levels_.empty() || cut.size() < 3) return false;
    const Groups& before = levels_.back();
    const auto largest = std::ranges::max_element(cut, [](const auto& a, const auto& b) { return a.size() < b.size(); });
    std::vector<int> others;
    for (const auto& group : cut) {
      if (group == *largest) continue;
      if (std::ranges::find(before, group) == before.end()) return false;
      others.insert(others.end(), group.begin(), group.end());
    }
    if (others.size() != largest->size() || !others_as_far(cut, *largest)) return false;
    std::ranges::sort(others);
    home_ = *largest;
    sockets_ = {home_, others};
    std::ranges::sort(sockets_);
    return true;
  }

  [[nodiscard]] bool others_as_far(const Groups& cut, const std::vector<int>& largest) const {
    std::vector<double> to_largest;
    std::vector<double> among;
    for (std::size_t a = 0; a < cut.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        (cut[a] == largest || cut[b] == largest ? to_largest : among).push_back(mean_between(matrix_, cut[a], cut[b]));
      }
    }
    return std::fabs(mean(among) - mean(to_largest)) <= kAsFar * mean(to_largest);
  }

  static int most_members(const Groups& groups) {
    std::size_t most = 0;
    for (const auto& group : groups) most = std::max(most, group.size());
    return static_cast<int>(most);
  }

  // The most `parts` that one of the groups consists of.
  static int most_parts(const Groups& groups, const Groups& parts) {
    int most = 0;
    for (const auto& group : groups) {
      most = std::max(most, static_cast<int>(std::ranges::count_if(
                                parts, [&](const auto& part) { return std::ranges::binary_search(group, part[0]); })));
    }
    return most;
  }

  // Pairs of CPUs that seem to be threads, by number; empty if there are none. For noisy matrices: operating systems give the
  // two threads of a core adjacent numbers, or numbers half the machine apart.
  [[nodiscard]] Groups threads_as_numbered() const {
    const int cpus = matrix_.cpus();
    if (cpus % 2 != 0 || cpus < 4) return {};
    for (const int apart : {1, cpus / 2}) {
      Groups pairs;
      for (int cpu = 0; cpu < cpus; ++cpu) {
        if (apart == 1 ? cpu % 2 == 0 : cpu < apart) pairs.push_back({cpu, cpu + apart});
      }
      if (are_pairs_of_threads(pairs)) return pairs;
    }
    return {};
  }

  [[nodiscard]] bool are_pairs_of_threads(const Groups& pairs) const {
    double own = 0;
    double next = 0;
    for (const auto& pair : pairs) {
      const double ns = matrix_.at(pair[0], pair[1]);
      if (ns > kThreadNs) return false;
      own += 2 * ns;
      for (const int cpu : pair) next += nearest_but(cpu, pair);
    }
    return own <= kNearThread * next;
  }

  [[nodiscard]] double nearest_but(int cpu, const std::vector<int>& pair) const {
    double nearest = std::numeric_limits<double>::max();
    for (int other = 0; other < matrix_.cpus(); ++other) {
      if (other != pair[0] && other != pair[1]) nearest = std::min(nearest, matrix_.at(cpu, other));
    }
    return nearest;
  }

  [[nodiscard]] Groups single_cores() const {
    Groups cores;
    for (int cpu = 0; cpu < matrix_.cpus(); ++cpu) cores.push_back({cpu});
    return cores;
  }

  // Chooses the network's topology. Returns the nodes in the order of their numbers.
  Groups in_network_order(const Groups& nodes) {
    const int count = static_cast<int>(nodes.size());
    if (count < 3) return nodes;
    std::vector<double> means;
    for (int a = 0; a < count; ++a) {
      for (int b = 0; b < a; ++b) means.push_back(between(nodes, a, b));
    }
    std::ranges::sort(means);
    std::size_t gap = 1;
    for (std::size_t i = 1; i < means.size(); ++i) {
      if (means[i] * means[gap - 1] > means[gap] * means[i - 1]) gap = i;
    }
    if (means[gap] < means[gap - 1] * kFartherNode) return nodes;
    join_near(nodes, (means[gap - 1] + means[gap]) / 2);
    return found_.topology == Topology::ring ? round_the_ring(nodes) : nodes;
  }

  [[nodiscard]] double between(const Groups& nodes, int a, int b) const { return mean_between(matrix_, nodes[a], nodes[b]); }

  void join_near(const Groups& nodes, double limit) {
    const int count = static_cast<int>(nodes.size());
    std::map<int, std::vector<int>> near;
    for (int a = 0; a < count; ++a) {
      for (int b = 0; b < count; ++b) {
        if (a != b && between(nodes, a, b) < limit) near[a].push_back(b);
        if (a < b && between(nodes, a, b) < limit) found_.links.emplace_back(a, b);
      }
    }
    const bool connected = reached(near) == count;
    const bool two_each = std::ranges::all_of(near, [](const auto& neighbours) { return neighbours.second.size() == 2; });
    found_.topology = Topology::links;
    if (connected && two_each && count > 3) {
      found_.topology = Topology::ring;
      found_.links.clear();
    } else if (!connected || count == 3) {
      // Routes over near nodes don't reach all nodes, or there are only three, so each pair gets a link.
      found_.links.clear();
      for (int a = 0; a < count; ++a) {
        for (int b = a + 1; b < count; ++b) found_.links.emplace_back(a, b);
      }
    }
    if (found_.links.size() > kMostLinks) {
      found_.notes.push_back(
          fmt::format("{} nodes lie at different distances and on no ring; {} links are too many to fit, so all "
                      "are taken to be as far from each other.",
                      count, found_.links.size()));
      found_.topology = Topology::fully_connected;
      found_.links.clear();
    }
    near_ = std::move(near);
  }

  static int reached(const std::map<int, std::vector<int>>& near) {
    std::set<int> seen = {0};
    std::vector<int> open = {0};
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      if (const auto next = near.find(at); next != near.end()) {
        for (const int node : next->second) {
          if (seen.insert(node).second) open.push_back(node);
        }
      }
    }
    return static_cast<int>(seen.size());
  }

  // The nodes in ring order: node 0, then its neighbour with the lower number, and so on.
  Groups round_the_ring(const Groups& nodes) const {
    Groups order = {nodes[0]};
    int before = 0;
    int at = near_.at(0).front();
    while (at != 0) {
      order.push_back(nodes[at]);
      const auto& neighbours = near_.at(at);
      const int next = neighbours[0] == before ? neighbours[1] : neighbours[0];
      before = at;
      at = next;
    }
    return order;
  }

  void seat(const Groups& nodes, const Groups& buses, const Groups& cores) {
    found_.seats.resize(matrix_.cpus());
    found_.hardware_threads.resize(found_.seats.size());
    int core_number = 0;
    const auto holds = [](const std::vector<int>& group, int cpu) { return std::ranges::binary_search(group, cpu); };
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      int bus_number = static_cast<int>(node) * found_.buses_per_node;
      for (const auto& bus : buses) {
        if (!holds(nodes[node], bus[0])) continue;
        int seat_number = bus_number * found_.cores_per_bus;
        for (const auto& core : cores) {
          if (!holds(bus, core[0])) continue;
          for (std::size_t thread = 0; thread < core.size(); ++thread) {
            const int cpu = core[thread];
            found_.seats[cpu] = {static_cast<int>(node), bus_number, core_number, static_cast<int>(thread)};
            found_.hardware_threads[cpu] = seat_number * found_.threads_per_core + static_cast<int>(thread);
          }
          ++core_number;
          ++seat_number;
        }
        ++bus_number;
      }
    }
  }

  const LatencyMatrix& matrix_;
  std::vector<Groups> levels_;  // the finest first
  Groups some_threads_;         // the cores, if some have several threads and some have one; else empty
  Groups sockets_;              // the two sockets, if only one of them is a single group; else empty
  std::vector<int> home_;       // the CPUs of the socket that is a single group
  std::map<int, std::vector<int>> near_;
  Structure found_;
};

}  // namespace

Structure structure_of(const LatencyMatrix& matrix, const CpuGroups& groups) {
  return Finder(matrix).take(groups);
}

Structure find_structure(const LatencyMatrix& matrix) {
  return Finder(matrix).find();
}

}  // namespace linebounce::sim
