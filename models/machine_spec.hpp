// What a machine is configured with: plain values, as the machine file states them, in the file's units. Which key sets which
// member, its unit, legal values and meaning stand in one table, sim/config/schema.cpp; defaults are the initialisers here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace linebounce {

// A frequency as an exact fraction of megahertz: 667 MHz buses run at 2000/3.
struct Frequency {
  std::int64_t numerator_mhz = 0;
  std::int64_t denominator = 1;
  friend bool operator==(const Frequency&, const Frequency&) = default;
};

// In a file, what says "as the rest", where one part may have a figure of its own.
constexpr double kAsTheRest = -1;
constexpr double own_or(double own, double rest) {
  return own < 0 ? rest : own;
}

enum class Replacement { lru, tree_plru };
enum class Consistency { sc, tso, ia64 };
enum class CpuOrder { spread, fill, fill_cores };
// Which misses also ask for the other line of an aligned pair.
enum class PairPrefetch { none, loads, all };

struct CpuSpec {
  Frequency clock;
  int issue_per_cycle = 1;                  // instructions that cpu.execute() retires in a cycle
  int threads_per_core = 1;                 // hardware threads that share one core's L1
  int shared_issue_pct = 100;               // of its speed that a thread keeps while another one of its core computes
  int spinning_sibling_pct = 100;           // likewise, while another one spins in a loop without a pause
  int pausing_sibling_pct = 100;            // likewise, in a loop that pauses
  int pause_cycles = 0;                     // of a spin loop's pause, between two looks, on top of compare and branch
  int spin_exit_cycles = 0;                 // leaving a spin that has waited: its branch was predicted to go on
  int atomic_latency_cycles = 0;            // exchange, fetch-and-add: the line is locked for so long
  int compare_exchange_latency_cycles = 0;  // likewise
  int fence_latency_cycles = 0;
  int fill_latency_cycles = 0;       // first data at the core's bus pins to the waiting operation's start
  int keep_cycles = 0;               // a line that a compare-and-exchange has fetched answers no snoop for so long after it
  int interrupt_latency_cycles = 0;  // arrival to the handler's first instruction
  double ipi_latency_ns = 0;         // send to arrival at the other CPU; also the wake-up of a sleeping CPU
  int ipi_send_cycles = 0;           // that sending one keeps the sender
  int page_invalidation_cycles = 0;  // one page's translation is dropped
  int tlb_flush_cycles = 0;          // all are
  int tlb_flush_ceiling_pages = 33;  // of more pages than this, all translations are dropped instead
  Consistency consistency = Consistency::sc;
  int store_buffer_entries = 0;  // tso and ia64 only
  int outstanding_misses = 1;    // per core: misses, prefetches and store-buffer drains under way
  int write_back_buffers = 1;    // per core: dirty victims that wait for the bus
  PairPrefetch pair_prefetch = PairPrefetch::none;
  bool ownership_prefetch = false;  // what waits for earlier stores to leave the store buffer asks for its line meanwhile
};

// Pages and code that a core has at hand, where they are simulated at all (models/core/footprint.hpp). Its hardware threads
// share both.
struct FootprintSpec {
  int tlb_entries = 0;  // of the data TLB; 0: every translation is at hand
  int tlb_ways = 4;
  int tlb_page_kib = 4;
  int tlb_miss_cycles = 20;
  int code_cache_kib = 0;  // the nearest cache of code; 0: all code is at hand
  int code_cache_ways = 4;
  int code_line_bytes = 64;
  int code_miss_cycles = 10;  // a line from the next cache
  int bytes_per_instruction = 4;
  int kernel_function_bytes = 512;  // of the code of each function that a workload names
  int user_code_kib = 64;           // likewise, user code

  [[nodiscard]] bool on() const { return tlb_entries > 0 || code_cache_kib > 0; }
};

constexpr int kMostLevels = 4;  // of a core's private caches

// A level of a core's private caches, the nearest to the core first in MachineSpec::caches.
struct CacheSpec {
  std::string name;  // "L1D", "L2"
  int size_kib = 0;
  int ways = 0;
  int line_bytes = 0;          // an inner cache's may be smaller than the coherence line, the outermost cache's line
  int hit_latency_cycles = 0;  // load to use
  bool inclusive = true;       // holds all that the nearer levels hold: an eviction here evicts there
  Replacement replacement = Replacement::lru;
};

// A pipelined snooping bus with split transactions. All times in its own clocks.
struct BusSpec {
  std::string protocol;  // models/protocols/NAME.md, or a path to a file
  Frequency clock;
  int width_bytes = 0;          // data bytes a clock
  int line_bytes = 0;           // the coherence line; 0 in a file: the outermost cache's line. Never 0 in a checked machine.
  int arbitration_clocks = 1;   // decision to the address phase
  int address_clocks = 1;       // least distance of two address phases
  int snoop_clocks = 1;         // address phase to snoop result
  int snoop_stall_clocks = 1;   // a snoop that meets a busy line is sampled again after so long
  int response_clocks = 0;      // snoop result to the response of a transaction without data
  int intervention_clocks = 0;  // snoop result to the first data of another cache
  int turnaround_clocks = 0;    // idle data-bus clocks when the sender changes
  int latch_clocks = 0;         // first data on the bus to the core's pins
  int outstanding = 8;          // transactions between address phase and end of data
  bool one_per_line = false;    // a request is not granted while another transaction uses its line
  // Where cores are, if they are not all alike: a word for each core that the machine has, numbered as `fill` numbers them.
  // Cores behind the last word have no way of their own, and are at place 0,0.
  std::string way_ns;       // "0 1.5 3": a line's way between this core and another one of its bus, beside the hops
  std::string edge_way_ns;  // likewise, a line's way between this core and whatever is behind its bus
  std::string places;       // "0,0 1,0": column and row of a mesh; a ring's stops are one row
  double hop_ns = 0;        // a line's way from one column, or row, to the next
};

// Where an object's memory is unless the object says otherwise.
//   local        on the node of the CPU that it belongs to; one that belongs to no CPU: as first_touch
//   first_touch  each page on the node of the CPU that first misses on it
//   interleaved  pages in turn over the nodes
enum class Placement { local, first_touch, interleaved };

struct MemorySpec {
  double latency_ns = 0;          // address phase to first data; behind a directory: its look-up to first data
  int banks = 1;                  // interleaved by coherence line
  double bank_busy_ns = 0;        // one access occupies its bank for so long
  double bandwidth_mb_per_s = 0;  // of all banks together; 0: only banks and bus limit it
  std::string nodes = "all";      // the nodes that have memory: "all", or numbers, "0 1"
  Placement placement = Placement::local;
  int page_kib = 16;
};

// Memory of one node that is not as that of the others, with its home's directory. Name in files: the node's number.
struct MemoryOfNodeSpec {
  std::string name;
  // What says nothing is as MemorySpec or DirectorySpec has it.
  double latency_ns = kAsTheRest;
  int banks = -1;
  double bank_busy_ns = kAsTheRest;
  double bandwidth_mb_per_s = kAsTheRest;
  double directory_latency_ns = kAsTheRest;
  double directory_line_busy_ns = kAsTheRest;
};

// What joins the buses of a machine: a controller behind each bus, the directories of the homes, the network between the nodes.
// A machine whose node.protocol is empty is one bus with plain memory behind it, and none of this.
struct NodeSpec {
  std::string protocol;     // models/protocols/NAME.md with a `node` table, or a path; "": no node controller
  double latency_ns = 0;    // one pass through the controller of a node
  double occupancy_ns = 0;  // a pass keeps others out for so long
  // Whatever leaves the node goes through one serial stage (protocol engine, link). A message keeps it busy for so long, and
  // goes on itself at once.
  double request_crossing_ns = 0;
  double line_crossing_ns = 0;  // a message with a line of data
  // The cache behind each bus: what its controller keeps of the lines that its caches hold or held. Size 0: as large as it has
  // to be. A protocol whose controller keeps no data uses neither size nor latency.
  int cache_size_kib = 0;
  int cache_ways = 16;
  double cache_latency_ns = 0;  // look-up to first data
};

enum class SliceTopology { ring, mesh };

// A level of the tree between the controllers of a node and the homes' directories: controllers, or groups of the level before,
// that share a cache. The level nearest to the cores comes first in MachineSpec::groups.
struct GroupSpec {
  std::string name;         // "L3"
  std::string protocol;     // models/protocols/NAME.md with a `group` table, or a path
  int members = 2;          // of one group
  double latency_ns = 0;    // one pass through its controller
  double occupancy_ns = 0;  // a pass keeps others out for so long
  double link_ns = 0;       // from a member to the group, and back
  int size_kib = 0;         // of the shared cache; 0: as large as it has to be
  int ways = 16;
  double cache_latency_ns = 0;  // look-up to first data
  int filter_entries = 0;  // for what members have; 0: one for every line. Fewer need a protocol whose group evicts entries
  int filter_ways = 16;    // of a set of entries
  // Stops of a ring or mesh. Lines are spread over a slice at each, and members have their places. A message pays for the hops
  // between the two.
  int slices = 1;
  SliceTopology slice_topology = SliceTopology::ring;
  int slice_columns = 0;  // of a mesh; 0: as square as possible
  double slice_hop_ns = 0;
  std::string positions;  // the stop of each member, "0 3"; empty: spread evenly
};

struct DirectorySpec {
  std::string protocol;     // models/protocols/NAME.md with a `directory` table, or a path
  double latency_ns = 0;    // look-up and update of a line's entry
  double line_busy_ns = 0;  // a request keeps others of its line waiting for so long
  int entries = 0;          // of each home; 0: one for every line. Fewer need a protocol whose directory evicts
  int ways = 16;            // of a set of entries
};

enum class Topology { crossbar, fully_connected, ring, mesh, torus, hypercube, links };

// A link between two nodes. Name in files: "0_1".
struct LinkSpec {
  std::string name;
  double latency_ns = 0;
  double bandwidth_mb_per_s = 0;  // 0: no limit
  // From the node of the higher number to that of the lower; kAsTheRest: as the other way.
  double back_latency_ns = kAsTheRest;
  double back_bandwidth_mb_per_s = kAsTheRest;
};

// What a message between two nodes costs beside the links that it takes. Name in files: "0_3".
struct PairSpec {
  std::string name;
  double latency_ns = 0;
  double back_latency_ns = kAsTheRest;  // likewise
};

struct NetworkSpec {
  Topology topology = Topology::crossbar;
  int columns = 0;                // mesh and torus; 0: as square as the number of nodes allows
  double latency_ns = 0;          // of each link, or of the way through the crossbar
  double bandwidth_mb_per_s = 0;  // of each link, each way; 0: no limit
  int header_bytes = 16;          // of a message; one with a line of data has the line's bytes on top
  int credits = 0;                // messages of one class that a link has room for at its end; 0: no limit
  std::vector<LinkSpec> links;    // topology "links" only
  std::vector<PairSpec> pairs;
};

// Speed-ups, none of which changes a result, and what the tests use to show that.
struct EngineSpec {
  bool run_ahead = true;
  bool parked_spins = true;
  bool reverse_construction = false;  // build and start the cores in the opposite order
  int horizon_slack_ticks = 0;        // 1 breaks run-ahead on purpose: the self-test that I1 and I2 catch it
  double watchdog_us = 100000;        // simulated time without any completed operation that is no spin
  bool line_history = false;          // a failure shows the latest rows of its line; not for files: a failed run sets it
};

struct MachineSpec {
  std::string name;
  std::string title;
  int cpus = 0;          // hardware threads in use
  int cpus_present = 0;  // hardware threads that the machine has; cpu_order says which of them are in use
  CpuOrder cpu_order = CpuOrder::spread;
  std::string cpu_list;  // hardware threads, as `fill` numbers them, "0 8 1"; empty: by cpu_order
  int nodes = 1;
  int buses_per_node = 1;         // front-side buses behind one node's controller
  std::string cpu_nodes = "all";  // the nodes that have CPUs: "all", or numbers, "0 1"
  CpuSpec cpu;
  FootprintSpec footprint;
  std::vector<CacheSpec> caches;
  BusSpec bus;
  NodeSpec node;
  DirectorySpec directory;
  NetworkSpec network;
  MemorySpec memory;
  std::vector<MemoryOfNodeSpec> memory_of_node;
  std::vector<GroupSpec> groups;

  [[nodiscard]] bool has_nodes() const { return !node.protocol.empty(); }
};

}  // namespace linebounce
