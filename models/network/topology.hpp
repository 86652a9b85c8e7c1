// Which links a machine's nodes have, and which way a message takes: a pure function of the specification, without time or
// SystemC.
#pragma once

#include <string>
#include <vector>

#include "models/machine_spec.hpp"

namespace linebounce {

// One direction of a link. Its ends are nodes, or the crossbar's switch, whose number is that of the nodes.
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
  // next_link[at][destination]: the link, as an index into `links`, that a message at a place goes on by; -1 where it is.
  // Destinations are nodes.
  std::vector<std::vector<int>> next_link;

  // The links from one node to another, in order. REQUIRES: both are nodes.
  [[nodiscard]] std::vector<int> way(int from, int to) const;
};

// A message takes the way of least latency; of those the one of fewest links; of those, at each place, the one to the lowest
// number. So ways are the same in every build, all messages from one node to another take the same one, and those of meshes,
// hypercubes and trees never wait for each other in a circle.
//
// crossbar: each node has a link into a switch, with the whole latency of the way through, and one out of it, with none (halves
// would have to be rounded to ticks). Messages of different nodes meet at the destination's link only.
// mesh, torus: rows of `columns` nodes, numbered row by row. A ring or torus has no second link between nodes that it joins
// already, as two nodes in a ring.
//
// Errors: std::invalid_argument, "KEY: TEXT" for a user: nodes that make no hypercube or no whole rows, a link to a node that
// does not exist, two links between the same nodes, nodes that no links join.
NetworkMap lay_links(const NetworkSpec& spec, int nodes);

// What a message from one node to another costs beside its links: [from][to], 0 where the specification says nothing.
// Errors: as lay_links, a pair with a node that does not exist.
std::vector<std::vector<double>> pair_costs_ns(const NetworkSpec& spec, int nodes);

// Links that can wait for each other in a circle when each has room for so many messages only: the indices, in order of
// waiting; empty if there are none.
std::vector<int> circle_of_links(const NetworkMap& map);

// The two nodes of a link's name, "0_5"; {-1, -1} for a name that is none: two numbers, the lower first.
struct LinkEnds {
  int low = -1, high = -1;
};
LinkEnds parse_link_name(const std::string& name);

}  // namespace linebounce
