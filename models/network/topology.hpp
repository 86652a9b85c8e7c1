// The links between a machine's nodes, and the routes of messages: a pure function of the specification, without time.
#pragma once

#include <string>
#include <vector>

#include "models/machine_spec.hpp"

namespace linebounce {

// One direction of a link. Its ends are nodes, or the crossbar's switch, which has the number after the last node's.
struct Link {
  int from = 0;
  int to = 0;
  double latency_ns = 0;
  double bandwidth_mb_per_s = 0;  // 0: no limit
  friend bool operator==(const Link&, const Link&) = default;
};

struct NetworkMap {
  int nodes = 1;
  int places = 1;           // the number of nodes, plus one for the switch of a crossbar
  std::vector<Link> links;  // both directions of each link, sorted by (from, to)
  // next_link[place][destination]: index into `links` of the link that a message at `place` takes next; -1 at the destination.
  std::vector<std::vector<int>> next_link;

  // The links on the route from one node to another, in order, as indices into `links`. REQUIRES: both are nodes.
  [[nodiscard]] std::vector<int> way(int from, int to) const;
};

// Lays the links and chooses the route between every two nodes: the one with the least latency, then with the fewest links,
// then the one whose next link leads to the lowest-numbered node. So routes are the same in every build, all messages from one
// node to another take the same route, and the routes of meshes, hypercubes and trees cannot deadlock.
//
// In a crossbar, each node has a link into a switch, with the whole latency, and a link out of it, without latency (half the
// latency on each would have to be rounded to ticks). Messages from different nodes meet only at the destination's link. A mesh
// or torus has rows of `columns` nodes, numbered row by row. Two nodes are joined by one link, even in a ring of two.
//
// Errors: std::invalid_argument, with a text "KEY: TEXT" for the user, if the number of nodes makes no hypercube or no whole
// rows, if a link names an unknown node, or if no links lead to a node.
NetworkMap lay_links(const NetworkSpec& spec, int nodes);

// Latency added to messages between two nodes, on top of the latency of their links: [from][to], 0 by default. Errors: as for
// lay_links(), for an unknown node.
std::vector<std::vector<double>> pair_costs_ns(const NetworkSpec& spec, int nodes);

// Finds links that can deadlock when their buffers are finite. Returns a cycle of link indices, in which each link waits for
// the next; empty if there is no cycle.
std::vector<int> circle_of_links(const NetworkMap& map);

// The two nodes in a link's name, such as "0_5", the lower number first; {-1, -1} for any other text.
struct LinkEnds {
  int low = -1, high = -1;
};
LinkEnds parse_link_name(const std::string& name);

}  // namespace linebounce
