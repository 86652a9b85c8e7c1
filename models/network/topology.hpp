// The links between a machine's nodes and the routes of messages: a pure function of the specification, without time or
// SystemC.
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
  int places = 1;           // nodes, and the switch of a crossbar
  std::vector<Link> links;  // both directions of each, by (from, to)
  // next_link[at][destination]: the next link of a message at a place, as an index into `links`; -1 at the destination.
  std::vector<std::vector<int>> next_link;

  // The links from one node to another, in order. REQUIRES: both are nodes.
  [[nodiscard]] std::vector<int> way(int from, int to) const;
};

// Routes have the least latency, then the fewest links, then at each place the link to the lowest number. So routes are the
// same in every build, all messages between two nodes take the same one, and those of meshes, hypercubes and trees cannot
// deadlock.
//
// crossbar: each node has a link into a switch, which has the whole latency, and one out of it, which has none (halves would
// have to be rounded to ticks). Messages of different nodes meet only at the destination's link. mesh, torus: rows of `columns`
// nodes, numbered row by row. Two nodes are joined by one link, even in a ring of two.
//
// Errors: std::invalid_argument, "KEY: TEXT" for a user: a number of nodes that makes no hypercube or no whole rows, a link to
// an unknown node, two links between the same nodes, a node that no link reaches.
NetworkMap lay_links(const NetworkSpec& spec, int nodes);

// Latency added to messages between two nodes, besides their links': [from][to], 0 by default. Errors: as lay_links(), for an
// unknown node.
std::vector<std::vector<double>> pair_costs_ns(const NetworkSpec& spec, int nodes);

// Links that can deadlock when their buffers are finite: a cycle of indices, each waiting for the next; empty if there is none.
std::vector<int> circle_of_links(const NetworkMap& map);

// The nodes in a link's name, "0_5", the lower first; {-1, -1} for any other text.
struct LinkEnds {
  int low = -1, high = -1;
};
LinkEnds parse_link_name(const std::string& name);

}  // namespace linebounce
