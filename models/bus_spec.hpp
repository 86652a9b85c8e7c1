// The specification of buses and memory.
#pragma once

#include <string>

#include "models/spec_binder.hpp"

namespace linebounce {

// A machine that sets this key has nodes. Parameters that have no effect without nodes name it as their `needs`.
constexpr std::string_view kNeedsNodes = "machine.node.protocol";

// Which of several requests that wait for one line the bus serves next when the line becomes free.
//   first    the one that was made first
//   chance   any of them, each with the same probability
//   nearest  the one whose core is nearest to the line; but a request that has waited next_limit_ns goes first, the oldest
//            before others
//
// With chance and nearest, a request that the node's controller has granted goes before all others, and a recall before the
// rest.
enum class NextRequest { first, chance, nearest };
template <>
inline constexpr auto kWordsOf<NextRequest> = std::to_array<std::string_view>({"first", "chance", "nearest"});

// A pipelined snooping bus with split transactions.
struct BusSpec {
  std::string protocol;
  Frequency clock;
  int width_bytes = 0;
  int line_bytes = 0;  // 0 in the machine file means the outermost cache's line size; never 0 once the file has been checked
  int arbitration_clocks = 1;
  int address_clocks = 1;
  int snoop_clocks = 1;
  int snoop_stall_clocks = 1;
  int response_clocks = 0;
  int intervention_clocks = 0;
  int turnaround_clocks = 0;
  int latch_clocks = 0;
  int outstanding = 8;
  int invalidation_clocks = 0;
  bool one_per_line = false;
  NextRequest next = NextRequest::first;
  double next_limit_ns = 1000;
  double snoop_waits_ns = -1;
  double overlap_ns = 0;
  // way_ns, edge_way_ns and places describe cores on a ring or mesh. Each lists one word for each core, in use or not. Cores
  // beyond the last word are in column 0, row 0, and add no travel time. On a ring, all cores are in one row.
  std::string way_ns;
  std::string edge_way_ns;
  std::string places;
  double hop_ns = 0;

  void bind(SpecBinder& keys) {
    keys.text("protocol", protocol, "coherence protocol: a name in models/protocols, or a path", kRequired);
    keys.number("clock_mhz", "MHz", clock, 0.001, kMostMhz, "the bus's clock", kRequired);
    keys.number("width_bytes", "bytes", width_bytes, 1, 4096, "data that is transferred in a clock", kRequired);
    keys.number("line_bytes", "bytes", line_bytes, 0, kLargestLine,
                "the coherence line on this bus; 0: the outermost cache's line");
    keys.clocks("arbitration_clocks", arbitration_clocks, "the arbiter's decision to the address phase");
    keys.number("address_clocks", "clocks", address_clocks, 1, kMostCycles, "least distance of two address phases");
    keys.number("snoop_clocks", "clocks", snoop_clocks, 1, kMostCycles, "address phase to snoop result");
    keys.number("snoop_stall_clocks", "clocks", snoop_stall_clocks, 1, kMostCycles,
                "a snoop that meets a locked line is sampled again after so long");
    keys.clocks("response_clocks", response_clocks, "snoop result to the response of a transaction without data");
    keys.clocks("intervention_clocks", intervention_clocks, "snoop result to the first data from another cache");
    keys.number("invalidation_clocks", "clocks", invalidation_clocks, kDerived, kMostCycles,
                "snoop result to the answer of a cache that gives its copy up, which then travels as a line does; who takes "
                "copies waits for the last answer; 0: nobody waits, -1: as long as for data from another cache");
    keys.clocks("turnaround_clocks", turnaround_clocks, "idle data clocks when the sender changes");
    keys.clocks("latch_clocks", latch_clocks, "first data on the bus to the core's pins");
    keys.number("outstanding", "", outstanding, 1, 1024, "transactions between address phase and end of data");
    keys.flag(
        "one_per_line", one_per_line,
        "a request is not granted while another transaction uses its line, so that each pays its whole latency; false: it "
        "is granted, and its snoop is stalled");
    constexpr ParameterTraits kOfWaiting{.needs = "machine.bus.one_per_line"};
    keys.word("next", next, "which of the requests that wait for one line is served next", kOfWaiting);
    keys.ns("next_limit_ns", next_limit_ns, "with next = \"nearest\": who has waited for so long goes first", kOfWaiting);
    keys.number(
        "snoop_waits_ns", "ns", snoop_waits_ns, -1, kMostNs,
        "a request that has waited for its line for so long has its snoop waiting there, and takes the line the moment it "
        "is free, before the owner's next operation; 0: every request, -1: none, the snoop leaves when the line is free",
        kOfWaiting);
    keys.ns("overlap_ns", overlap_ns,
            "the part of a transfer between two cores that a request covers on its own way, while it waits for its line",
            kOfWaiting);
    // The key that `hop_ns` needs: without places, a line has no hops to travel.
    constexpr std::string_view kPlaces = "machine.bus.places";
    keys.text("way_ns", way_ns,
              "a line's way between each core and another one of its bus, both ends' added: \"0 1.5 3\", cores numbered as "
              "`fill` numbers them; empty: none",
              {.needs = "machine.bus.way_ns"}, "ns");
    keys.text("edge_way_ns", edge_way_ns, "likewise, a line's way between each core and what is behind its bus",
              {.needs = "machine.bus.edge_way_ns"}, "ns");
    keys.text("places", places, "column and row of each core: \"0,0 1,0\"; empty: all are at one place", {.needs = kPlaces});
    keys.ns("hop_ns", hop_ns, "a line's way from one column or row to the next, between two cores of a bus",
            {.needs = kPlaces});
  }
};

// How the home node of an object's memory is chosen, unless the object names a node.
//   local        the node of the CPU that owns the object; as first_touch if no CPU owns it
//   first_touch  for each page, the node of the CPU that misses on the page first
//   interleaved  the pages are assigned to the nodes in turn
enum class Placement { local, first_touch, interleaved };
template <>
inline constexpr auto kWordsOf<Placement> = std::to_array<std::string_view>({"local", "first_touch", "interleaved"});

struct MemorySpec {
  double latency_ns = 0;  // time from the address phase (with nodes: from the directory's look-up) to the first data
  int banks = 1;
  double bank_busy_ns = 0;
  double bandwidth_mb_per_s = 0;
  std::string nodes = "all";
  Placement placement = Placement::local;
  int page_kib = 16;

  void bind(SpecBinder& keys) {
    constexpr ParameterTraits kOfNodes{.needs = kNeedsNodes};
    keys.ns("latency_ns", latency_ns, "address phase to first data", kRequired);
    keys.number("banks", "", banks, 1, 4096, "banks, interleaved by coherence line");
    keys.ns("bank_busy_ns", bank_busy_ns, "an access occupies its bank for so long");
    keys.number("bandwidth_mb_per_s", "MB/s", bandwidth_mb_per_s, 0, kMostMbPerS,
                "of all banks together; 0: only banks and bus limit it");
    keys.text("nodes", nodes, "the nodes that have memory: \"all\", or numbers, \"0 1\"", kOfNodes);
    keys.word("placement", placement, "where an object's memory is unless [placement] or the workload says otherwise",
              kOfNodes);
    keys.number("page_kib", "KiB", page_kib, 1, 1 << 20, "what first_touch and interleaved place as a whole", kOfNodes);
  }
};

// Parameters of one node's memory and directory, where they differ from the other nodes'.
struct MemoryOfNodeSpec {
  std::string name;  // the node's number
  double latency_ns = kAsTheRest;
  int banks = -1;
  double bank_busy_ns = kAsTheRest;
  double bandwidth_mb_per_s = kAsTheRest;
  double directory_latency_ns = kAsTheRest;
  double directory_line_busy_ns = kAsTheRest;

  void bind(SpecBinder& keys) {
    keys.number("latency_ns", "ns", latency_ns, kAsTheRest, kMostNs,
                "of this node's memory, look-up to first data; -1: as memory.latency_ns");
    keys.number("banks", "", banks, kAsTheRest, 4096, "its banks; -1: as memory.banks");
    keys.number("bank_busy_ns", "ns", bank_busy_ns, kAsTheRest, kMostNs,
                "an access occupies its bank for so long; -1: as memory.bank_busy_ns");
    keys.number("bandwidth_mb_per_s", "MB/s", bandwidth_mb_per_s, kAsTheRest, kMostMbPerS,
                "of all its banks together; 0: no limit, -1: as memory.bandwidth_mb_per_s");
    keys.number("directory_latency_ns", "ns", directory_latency_ns, kAsTheRest, kMostNs,
                "of the directory of its lines; -1: as directory.latency_ns");
    keys.number("directory_line_busy_ns", "ns", directory_line_busy_ns, kAsTheRest, kMostNs,
                "likewise; -1: as directory.line_busy_ns");
  }
};

}  // namespace linebounce
