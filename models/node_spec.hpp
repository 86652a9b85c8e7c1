// The specification of the parts that connect buses: node controllers, groups of them, directories, and the network.
#pragma once

#include <string>
#include <vector>

#include "models/spec_binder.hpp"

namespace linebounce {

// The node controllers. A machine without node.protocol has none: it is one bus with plain memory.
struct NodeSpec {
  std::string protocol;
  double latency_ns = 0;
  double occupancy_ns = 0;
  // Every message that leaves the node passes one serial stage (protocol engine, link). The message itself moves on at once,
  // but keeps the next one waiting: for line_crossing_ns if it carries a line, else for request_crossing_ns.
  double request_crossing_ns = 0;
  double line_crossing_ns = 0;
  // The node controller's cache, for lines that caches on its bus hold or once held. If the protocol's controller keeps no
  // data, size and latency have no effect.
  int cache_size_kib = 0;
  int cache_ways = 16;
  double cache_latency_ns = 0;

  void bind(SpecBinder& keys) {
    keys.text(
        "protocol", protocol,
        "protocol of the controllers behind the buses: a name in models/protocols, or a path; \"\": the machine is one bus");
    keys.ns("latency_ns", latency_ns, "one pass through a controller");
    keys.ns("occupancy_ns", occupancy_ns, "a pass keeps other messages out of the controller for so long");
    keys.ns("request_crossing_ns", request_crossing_ns,
            "a message without data occupies the stage at the node's edge for so long");
    keys.ns("line_crossing_ns", line_crossing_ns, "likewise, a message with a line");
    keys.number("cache_size_kib", "KiB", cache_size_kib, 0, 1 << 20, "the cache behind each bus; 0: as large as it has to be");
    keys.number("cache_ways", "", cache_ways, 1, 1024, "its associativity");
    keys.ns("cache_latency_ns", cache_latency_ns, "its look-up to first data");
  }
};

enum class SliceTopology { ring, mesh };
template <>
inline constexpr auto kWordsOf<SliceTopology> = std::to_array<std::string_view>({"ring", "mesh"});

// One level of the tree between node controllers and directories. The members of a group share a cache; they are node
// controllers, or groups of the level below. MachineSpec::groups lists the levels, the nearest to the cores first.
struct GroupSpec {
  std::string name;  // the level's name, such as "L3"
  std::string protocol;
  int members = 2;
  double latency_ns = 0;
  double occupancy_ns = 0;
  double link_ns = 0;
  int size_kib = 0;
  int ways = 16;
  double cache_latency_ns = 0;
  int filter_entries = 0;
  int filter_ways = 16;
  int slices = 1;  // the number of slices of the shared cache; messages take time for the hops between slices and members
  SliceTopology slice_topology = SliceTopology::ring;
  int slice_columns = 0;
  double slice_hop_ns = 0;
  std::string positions;

  void bind(SpecBinder& keys) {
    keys.number("members", "", members, 1, kMostNodes, "of one group: controllers of buses, or groups of the level before",
                kRequired);
    keys.text("protocol", protocol, "of its controller: a name in models/protocols, or a path; the same on all levels",
              kRequired);
    keys.ns("latency_ns", latency_ns, "one pass through its controller, the look-up of tags included");
    keys.ns("occupancy_ns", occupancy_ns, "a pass keeps other messages out of the controller for so long");
    keys.ns("link_ns", link_ns, "from a member to the group, and back, and from member to member");
    keys.number("size_kib", "KiB", size_kib, 0, 1 << 22, "of the cache that the group shares; 0: as large as it has to be");
    keys.number("ways", "", ways, 1, 1024, "its associativity");
    keys.ns("cache_latency_ns", cache_latency_ns, "its look-up to first data");
    keys.number("filter_entries", "entries", filter_entries, 0, 1 << 24,
                "of the filter that knows what members have; 0: one for every line. Fewer need a protocol with a filter of its "
                "own");
    keys.number("filter_ways", "", filter_ways, 1, 1024, "associativity of the filter");
    keys.number("slices", "", slices, 1, 256, "stops of a ring or mesh; lines are spread over a slice of the cache at each");
    keys.word("slice_topology", slice_topology, "how the stops are joined");
    keys.number("slice_columns", "", slice_columns, 0, 256, "of a mesh of stops; 0: as square as their number allows");
    keys.ns("slice_hop_ns", slice_hop_ns, "from a stop to the next");
    keys.text("positions", positions, "the stop of each member, \"0 3\"; \"\": spread evenly");
  }
};

struct DirectorySpec {
  std::string protocol;
  double latency_ns = 0;
  double line_busy_ns = 0;
  bool broadcasts = false;
  int entries = 0;  // 0: no limit; a limit needs a protocol whose directory evicts entries
  int ways = 16;

  void bind(SpecBinder& keys) {
    keys.text("protocol", protocol, "protocol of the homes' directories: a name in models/protocols, or a path");
    keys.ns("latency_ns", latency_ns, "look-up and update of a line's entry");
    keys.number("line_busy_ns", "ns", line_busy_ns, kDerived, kMostNs,
                "a request keeps others of its line waiting at the home for so long; -1: for a transfer from another node's "
                "cache");
    keys.flag(
        "broadcasts", broadcasts,
        "the home asks all nodes when copies are taken, and who takes them waits for the farthest; false: only those that "
        "have one");
    keys.number("entries", "", entries, 0, 1 << 24, "lines that a home can keep track of at once; 0: all");
    keys.number("ways", "", ways, 1, 1024, "associativity of its entries");
  }
};

enum class Topology { crossbar, fully_connected, ring, mesh, torus, hypercube, links };
template <>
inline constexpr auto kWordsOf<Topology> = std::to_array<std::string_view>({"crossbar", "fully_connected", "ring", "mesh",
                                                                            "torus", "hypercube", "links"});

// A link between two nodes.
struct LinkSpec {
  std::string name;  // the two nodes, such as "0_1"
  double latency_ns = 0;
  double bandwidth_mb_per_s = 0;
  double back_latency_ns = kAsTheRest;
  double back_bandwidth_mb_per_s = kAsTheRest;

  void bind(SpecBinder& keys) {
    keys.ns("latency_ns", latency_ns, "from one end to the other", kRequired);
    keys.number("bandwidth_mb_per_s", "MB/s", bandwidth_mb_per_s, 0, kMostMbPerS, "each way; 0: no limit");
    keys.number("back_latency_ns", "ns", back_latency_ns, kAsTheRest, kMostNs,
                "from the node of the higher number to the other; -1: as the other way");
    keys.number("back_bandwidth_mb_per_s", "MB/s", back_bandwidth_mb_per_s, kAsTheRest, kMostMbPerS,
                "likewise; -1: as the other way");
  }
};

// Latency added to each message between two nodes, on top of the latency of the links on its route.
struct PairSpec {
  std::string name;  // the two nodes, such as "0_3"
  double latency_ns = 0;
  double back_latency_ns = kAsTheRest;

  void bind(SpecBinder& keys) {
    keys.ns("latency_ns", latency_ns, "of a message between these nodes, beside that of its links", kRequired);
    keys.number("back_latency_ns", "ns", back_latency_ns, kAsTheRest, kMostNs,
                "from the node of the higher number to the other; -1: as the other way");
  }
};

struct NetworkSpec {
  Topology topology = Topology::crossbar;
  int columns = 0;
  double latency_ns = 0;
  double bandwidth_mb_per_s = 0;
  int header_bytes = 16;
  int credits = 0;
  std::vector<LinkSpec> links;  // used only with topology "links"
  std::vector<PairSpec> pairs;

  void bind(SpecBinder& keys) {
    keys.word("topology", topology, "which nodes have a link");
    keys.number("columns", "", columns, 0, kMostNodes, "of a mesh or torus; 0: as square as the number of nodes allows");
    keys.ns("latency_ns", latency_ns, "of each link, or of the way through the crossbar");
    keys.number("bandwidth_mb_per_s", "MB/s", bandwidth_mb_per_s, 0, kMostMbPerS, "of each link, each way; 0: no limit");
    keys.number("header_bytes", "bytes", header_bytes, 0, 4096, "of a message; one with a line has the line's bytes on top");
    keys.number("credits", "messages", credits, 0, 1 << 20, "of one class, for which a link has room at its end; 0: no limit");
    keys.parts("link", links);
    keys.parts("pair", pairs);
  }
};

}  // namespace linebounce
