#include "models/network/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <stdexcept>

namespace linebounce {
namespace {

constexpr const char* kTopologyKey = "machine.network.topology";

[[noreturn]] void refuse(const std::string& key, const std::string& text) {
  throw std::invalid_argument(key + ": " + text);
}

// Collects links, each in both directions. A second link between the same two ends is dropped.
class Links {
 public:
  explicit Links(const NetworkSpec& spec) : spec_(spec) {}

  void join(int a, int b) {
    if (a != b) join(a, b, spec_.latency_ns, spec_.bandwidth_mb_per_s);
  }
  void join(int a, int b, double latency_ns, double bandwidth_mb_per_s) {
    if (joined(a, b)) return;
    one_way(a, b, latency_ns, bandwidth_mb_per_s);
    one_way(b, a, latency_ns, bandwidth_mb_per_s);
  }
  void join(const LinkEnds& ends, const LinkSpec& link) {
    if (joined(ends.low, ends.high)) return;
    one_way(ends.low, ends.high, link.latency_ns, link.bandwidth_mb_per_s);
    one_way(ends.high, ends.low, own_or(link.back_latency_ns, link.latency_ns),
            own_or(link.back_bandwidth_mb_per_s, link.bandwidth_mb_per_s));
  }
  void one_way(int from, int to, double latency_ns, double bandwidth_mb_per_s) {
    links_.push_back({from, to, latency_ns, bandwidth_mb_per_s});
  }
  [[nodiscard]] bool joined(int a, int b) const {
    return std::any_of(links_.begin(), links_.end(), [&](const Link& link) { return link.from == a && link.to == b; });
  }
  std::vector<Link> sorted() && {
    std::sort(links_.begin(), links_.end(),
              [](const Link& a, const Link& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });
    return std::move(links_);
  }

 private:
  const NetworkSpec& spec_;
  std::vector<Link> links_;
};

void crossbar(Links& links, const NetworkSpec& spec, int nodes) {
  for (int node = 0; node < nodes && nodes > 1; ++node) {
    links.one_way(node, nodes, spec.latency_ns, spec.bandwidth_mb_per_s);
    links.one_way(nodes, node, 0, spec.bandwidth_mb_per_s);
  }
}

void fully_connected(Links& links, int nodes) {
  for (int a = 0; a < nodes; ++a) {
    for (int b = a + 1; b < nodes; ++b) links.join(a, b);
  }
}

// The number of columns of a mesh or torus. The default is as square as possible, or else wider than high.
int columns_of(const NetworkSpec& spec, int nodes) {
  if (spec.columns > 0) {
    if (nodes % spec.columns == 0) return spec.columns;
    refuse("machine.network.columns",
           fmt::format("{} nodes make no whole rows of {}; legal: a divisor of {}, or 0", nodes, spec.columns, nodes));
  }
  int rows = 1;
  for (int divisor = 1; divisor * divisor <= nodes; ++divisor) {
    if (nodes % divisor == 0) rows = divisor;
  }
  return nodes / rows;
}

void grid(Links& links, const NetworkSpec& spec, int nodes) {
  const int columns = columns_of(spec, nodes);
  const bool wraps = spec.topology == Topology::torus;
  for (int node = 0; node < nodes; ++node) {
    const int row_begin = node - node % columns;
    if (node + 1 < row_begin + columns) {
      links.join(node, node + 1);
    } else if (wraps) {
      links.join(node, row_begin);
    }
    if (node + columns < nodes) {
      links.join(node, node + columns);
    } else if (wraps) {
      links.join(node, node % columns);
    }
  }
}

void hypercube(Links& links, int nodes) {
  if (!std::has_single_bit(static_cast<unsigned>(nodes))) {
    refuse(kTopologyKey,
           fmt::format("{} nodes make no hypercube; legal: 1, 2, 4, 8, 16, 32 or 64 nodes, or another topology", nodes));
  }
  for (int node = 0; node < nodes; ++node) {
    for (int bit = 1; bit < nodes; bit *= 2) links.join(node, node ^ bit);
  }
}

void as_listed(Links& links, const NetworkSpec& spec, int nodes) {
  for (const LinkSpec& link : spec.links) {
    const LinkEnds ends = parse_link_name(link.name);
    if (ends.high >= nodes) {
      refuse("machine.network.link." + link.name,
             fmt::format("there is no node {}; the machine's nodes are 0 to {}", ends.high, nodes - 1));
    }
    links.join(ends, link);
  }
}

std::vector<Link> links_of(const NetworkSpec& spec, int nodes) {
  Links links(spec);
  switch (spec.topology) {
    case Topology::crossbar: crossbar(links, spec, nodes); break;
    case Topology::fully_connected: fully_connected(links, nodes); break;
    case Topology::ring:
      for (int node = 0; node < nodes; ++node) links.join(node, (node + 1) % nodes);
      break;
    case Topology::mesh:
    case Topology::torus: grid(links, spec, nodes); break;
    case Topology::hypercube: hypercube(links, nodes); break;
    case Topology::links: as_listed(links, spec, nodes); break;
  }
  return std::move(links).sorted();
}

// The length of a link or route, which counts latency first and the number of links second. Lengths are integers, so that equal
// lengths compare equal.
using Distance = std::int64_t;
constexpr Distance kUnreachable = std::numeric_limits<Distance>::max();

Distance length(const Link& link) {
  constexpr double kPicosecondsPerNs = 1000;
  constexpr Distance kMostLinks = 1 << 10;  // more links than any route has
  return static_cast<Distance>(std::llround(link.latency_ns * kPicosecondsPerNs)) * kMostLinks + 1;
}

// The distance to `destination` from every node, and from the switch of a crossbar.
std::vector<Distance> distances_to(int destination, const NetworkMap& map) {
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                      boost::property<boost::edge_weight_t, Distance>>;
  Graph backwards(static_cast<std::size_t>(map.places));
  for (const Link& link : map.links) {
    boost::add_edge(static_cast<std::size_t>(link.to), static_cast<std::size_t>(link.from), length(link), backwards);
  }
  std::vector<Distance> distance(map.places);
  boost::dijkstra_shortest_paths(
      backwards, static_cast<std::size_t>(destination),
      boost::distance_map(boost::make_iterator_property_map(distance.begin(), boost::get(boost::vertex_index, backwards)))
          .distance_inf(kUnreachable));
  return distance;
}

// Sets next_link for messages to `destination`. Of several shortest routes, the one whose next link leads to the
// lowest-numbered node wins, because the links are sorted.
void find_ways_to(int destination, NetworkMap& map) {
  const std::vector<Distance> distance = distances_to(destination, map);
  const std::size_t to = destination;
  for (std::size_t i = 0; i < map.links.size(); ++i) {
    const Link& link = map.links[i];
    int& next = map.next_link[link.from][to];
    const Distance rest = distance[link.to];
    if (next >= 0 || link.from == destination || rest == kUnreachable) continue;
    if (rest + length(link) == distance[link.from]) next = static_cast<int>(i);
  }
  for (int node = 0; node < map.nodes; ++node) {
    if (distance[node] != kUnreachable) continue;
    refuse(kTopologyKey, fmt::format("no links lead from node {} to node {}; every node must be reached from every other", node,
                                     destination));
  }
}

}  // namespace

LinkEnds parse_link_name(const std::string& name) {
  constexpr std::size_t kMostDigits = 4;
  const auto number = [](const std::string& text) {
    const bool digits =
        !text.empty() && text.size() <= kMostDigits && text.find_first_not_of("0123456789") == std::string::npos;
    return digits && (text == "0" || text.front() != '0') ? std::stoi(text) : -1;
  };
  const auto middle = name.find('_');
  if (middle == std::string::npos) return {};
  const LinkEnds ends{number(name.substr(0, middle)), number(name.substr(middle + 1))};
  return ends.low >= 0 && ends.low < ends.high ? ends : LinkEnds{};
}

NetworkMap lay_links(const NetworkSpec& spec, int nodes) {
  NetworkMap map;
  map.nodes = nodes;
  map.links = links_of(spec, nodes);
  map.places = spec.topology == Topology::crossbar ? nodes + 1 : nodes;
  map.next_link.assign(map.places, std::vector<int>(nodes, -1));
  for (int destination = 0; destination < nodes; ++destination) find_ways_to(destination, map);
  return map;
}

std::vector<std::vector<double>> pair_costs_ns(const NetworkSpec& spec, int nodes) {
  const std::size_t count = nodes;
  std::vector<std::vector<double>> costs(count, std::vector<double>(count));
  for (const PairSpec& pair : spec.pairs) {
    const LinkEnds ends = parse_link_name(pair.name);
    if (ends.high >= nodes) {
      refuse("machine.network.pair." + pair.name,
             fmt::format("there is no node {}; the machine's nodes are 0 to {}", ends.high, nodes - 1));
    }
    const auto low = static_cast<std::size_t>(ends.low), high = static_cast<std::size_t>(ends.high);
    costs[low][high] = pair.latency_ns;
    costs[high][low] = own_or(pair.back_latency_ns, pair.latency_ns);
  }
  return costs;
}

std::vector<int> NetworkMap::way(int from, int to) const {
  std::vector<int> way;
  for (int at = from; at != to; at = links[way.back()].to) {
    way.push_back(next_link[at][to]);
  }
  return way;
}

namespace {

// A depth-first search for a cycle of links. A link waits for the link that follows it on some message's route.
class CircleSearch {
 public:
  explicit CircleSearch(const NetworkMap& map) : next_(map.links.size()), state_(map.links.size(), State::unseen) {
    for (int from = 0; from < map.nodes; ++from) {
      for (int to = 0; to < map.nodes; ++to) add(map.way(from, to));
    }
  }

  std::vector<int> find() {
    for (std::size_t link = 0; link < next_.size() && circle_.empty(); ++link) visit(static_cast<int>(link));
    return circle_;
  }

 private:
  enum class State : std::uint8_t { unseen, waiting, done };

  void add(const std::vector<int>& way) {
    for (std::size_t i = 1; i < way.size(); ++i) next_[way[i - 1]].insert(way[i]);
  }

  void visit(int link) {
    State& state = state_[link];
    if (state != State::unseen) return;
    state = State::waiting;
    waiting_.push_back(link);
    for (const int next : next_[link]) {
      if (state_[next] == State::waiting) {
        circle_.assign(std::find(waiting_.begin(), waiting_.end(), next), waiting_.end());
      } else {
        visit(next);
      }
      if (!circle_.empty()) return;
    }
    waiting_.pop_back();
    state = State::done;
  }

  std::vector<std::set<int>> next_;
  std::vector<State> state_;
  std::vector<int> waiting_;
  std::vector<int> circle_;
};

}  // namespace

std::vector<int> circle_of_links(const NetworkMap& map) {
  return CircleSearch(map).find();
}

}  // namespace linebounce
