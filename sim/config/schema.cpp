#include "sim/config/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "models/cache/replacement/policies.hpp"
#include "sim/config/frequency.hpp"

namespace linebounce::sim {
namespace {

using Configuration = TypedConfiguration;

// Where a parameter lives: a member of a part of the machine, of a cache, of the machine, of the run or the engine.
template <auto Member>
Target cpu(Configuration& c, std::size_t) {
  return &(c.machine.cpu.*Member);
}
template <auto Member>
Target footprint(Configuration& c, std::size_t) {
  return &(c.machine.footprint.*Member);
}
template <auto Member>
Target bus(Configuration& c, std::size_t) {
  return &(c.machine.bus.*Member);
}
template <auto Member>
Target memory(Configuration& c, std::size_t) {
  return &(c.machine.memory.*Member);
}
template <auto Member>
Target cache(Configuration& c, std::size_t level) {
  return &(c.machine.caches[level].*Member);
}
template <auto Member>
Target node(Configuration& c, std::size_t) {
  return &(c.machine.node.*Member);
}
template <auto Member>
Target directory(Configuration& c, std::size_t) {
  return &(c.machine.directory.*Member);
}
template <auto Member>
Target network(Configuration& c, std::size_t) {
  return &(c.machine.network.*Member);
}
template <auto Member>
Target link(Configuration& c, std::size_t number) {
  return &(c.machine.network.links[number].*Member);
}
template <auto Member>
Target pair(Configuration& c, std::size_t number) {
  return &(c.machine.network.pairs[number].*Member);
}
template <auto Member>
Target group(Configuration& c, std::size_t level) {
  return &(c.machine.groups[level].*Member);
}
template <auto Member>
Target memory_of(Configuration& c, std::size_t number) {
  return &(c.machine.memory_of_node[number].*Member);
}
template <auto Member>
Target machine(Configuration& c, std::size_t) {
  return &(c.machine.*Member);
}
template <auto Member>
Target run(Configuration& c, std::size_t) {
  return &(c.run.*Member);
}
template <auto Member>
Target engine(Configuration& c, std::size_t) {
  return &(c.engine.*Member);
}
Target seeds(Configuration& c, std::size_t) {
  return &c.seeds;
}

constexpr bool kRequired = true;
constexpr bool kDefault = false;
constexpr PartOf kStructural = PartOf::structure;
constexpr PartOf kOfNodes = PartOf::nodes;
constexpr PartOf kOfPages = PartOf::pages;
constexpr PartOf kOfCode = PartOf::code;
constexpr double kMostCpus = 256;
constexpr double kMostNodes = 64;
constexpr double kMostCycles = 1e6;
constexpr double kMostNs = 1e7;
constexpr double kMostUs = 1e12;
constexpr double kMostMhz = 1e5;
constexpr double kMostMbPerS = 1e9;

}  // namespace

const std::vector<Parameter>& schema() {
  static const std::vector<Parameter> rows = {
      {"machine.name", "", machine<&MachineSpec::name>, kRequired, 0, 0, "the name in results", kStructural},
      {"machine.title", "", machine<&MachineSpec::title>, kDefault, 0, 0, "one line for people", kStructural},
      {"machine.cpus_present", "", machine<&MachineSpec::cpus_present>, kDefault, 0, kMostCpus,
       "hardware threads that the machine has; 0: as many as `cpus`", kStructural},
      {"machine.cpus", "", machine<&MachineSpec::cpus>, kRequired, 1, kMostCpus, "hardware threads in use"},
      {"machine.cpu_order", "", machine<&MachineSpec::cpu_order>, kDefault, 0, 0,
       "which hardware threads come first: spread over nodes, buses and cores; fill one node after the other; fill_cores: so, "
       "but "
       "second threads of cores last"},
      {"machine.cpu_list", "", machine<&MachineSpec::cpu_list>, kDefault, 0, 0,
       "the hardware threads of CPU 0, 1, ..., by numbers as `fill` gives them: \"0 8 1 9\"; empty: by cpu_order"},
      {"machine.nodes", "", machine<&MachineSpec::nodes>, kDefault, 1, kMostNodes, "nodes, joined by the network", kOfNodes},
      {"machine.buses_per_node", "", machine<&MachineSpec::buses_per_node>, kDefault, 1, kMostNodes,
       "front-side buses in a node, each with a controller of its own", kOfNodes},
      {"machine.cpu_nodes", "", machine<&MachineSpec::cpu_nodes>, kDefault, 0, 0,
       "the nodes that have CPUs: \"all\", or numbers, \"0 1\"", kOfNodes},

      {"machine.cpu.clock_mhz", "MHz", cpu<&CpuSpec::clock>, kRequired, 0.001, kMostMhz, "the cores' clock"},
      {"machine.cpu.issue_per_cycle", "", cpu<&CpuSpec::issue_per_cycle>, kDefault, 1, 64,
       "instructions that a core retires in a cycle"},
      {"machine.cpu.threads_per_core", "", cpu<&CpuSpec::threads_per_core>, kDefault, 1, 8,
       "hardware threads that share a core's caches"},
      {"machine.cpu.shared_issue_pct", "%", cpu<&CpuSpec::shared_issue_pct>, kDefault, 1, 100,
       "of its speed that a hardware thread keeps when it computes while another of its core does, too"},
      {"machine.cpu.spinning_sibling_pct", "%", cpu<&CpuSpec::spinning_sibling_pct>, kDefault, 1, 100,
       "likewise, while another of its core spins in a loop without a pause"},
      {"machine.cpu.pausing_sibling_pct", "%", cpu<&CpuSpec::pausing_sibling_pct>, kDefault, 1, 100,
       "likewise, in a loop that pauses, as those of nearly all locks do"},
      {"machine.cpu.pause_cycles", "cycles", cpu<&CpuSpec::pause_cycles>, kDefault, 0, kMostCycles,
       "the pause of a spin loop, between two looks at its word; compare and branch take 2 more"},
      {"machine.cpu.spin_exit_cycles", "cycles", cpu<&CpuSpec::spin_exit_cycles>, kDefault, 0, kMostCycles,
       "leaving a spin loop that has waited: its branch was predicted to go on"},
      {"machine.cpu.atomic_latency_cycles", "cycles", cpu<&CpuSpec::atomic_latency_cycles>, kDefault, 0, kMostCycles,
       "exchange and fetch-and-add on a line that is owned; the line is locked for so long"},
      {"machine.cpu.compare_exchange_latency_cycles", "cycles", cpu<&CpuSpec::compare_exchange_latency_cycles>, kDefault, 0,
       kMostCycles, "compare-and-exchange on a line that is owned; the line is locked for so long"},
      {"machine.cpu.fence_latency_cycles", "cycles", cpu<&CpuSpec::fence_latency_cycles>, kDefault, 0, kMostCycles,
       "a full fence with nothing to wait for"},
      {"machine.cpu.fill_latency_cycles", "cycles", cpu<&CpuSpec::fill_latency_cycles>, kDefault, 0, kMostCycles,
       "first data at the core's pins to the start of the operation that waits for it"},
      {"machine.cpu.keep_cycles", "cycles", cpu<&CpuSpec::keep_cycles>, kDefault, 0, kMostCycles,
       "a line that a compare-and-exchange has fetched answers no snoop for so long after it: who failed tries again first"},
      {"machine.cpu.interrupt_latency_cycles", "cycles", cpu<&CpuSpec::interrupt_latency_cycles>, kDefault, 0, kMostCycles,
       "an interrupt's arrival to its handler's first instruction"},
      {"machine.cpu.ipi_latency_ns", "ns", cpu<&CpuSpec::ipi_latency_ns>, kDefault, 0, kMostNs,
       "sending an inter-processor interrupt to its arrival; waking a sleeping CPU takes as long"},
      {"machine.cpu.ipi_send_cycles", "cycles", cpu<&CpuSpec::ipi_send_cycles>, kDefault, 0, kMostCycles,
       "sending one keeps the sender for so long"},
      {"machine.cpu.page_invalidation_cycles", "cycles", cpu<&CpuSpec::page_invalidation_cycles>, kDefault, 0, kMostCycles,
       "dropping one page's translation from the TLB"},
      {"machine.cpu.tlb_flush_cycles", "cycles", cpu<&CpuSpec::tlb_flush_cycles>, kDefault, 0, kMostCycles,
       "dropping all translations"},
      {"machine.cpu.tlb_flush_ceiling_pages", "pages", cpu<&CpuSpec::tlb_flush_ceiling_pages>, kDefault, 0, 1 << 20,
       "of more pages than this, all translations are dropped instead, as Linux does"},
      {"machine.cpu.consistency", "", cpu<&CpuSpec::consistency>, kDefault, 0, 0, "the memory model"},
      {"machine.cpu.store_buffer_entries", "entries", cpu<&CpuSpec::store_buffer_entries>, kDefault, 0, 1024,
       "stores that wait for their lines; more than 0 exactly where consistency is not sc"},
      {"machine.cpu.outstanding_misses", "", cpu<&CpuSpec::outstanding_misses>, kDefault, 1, 1024,
       "misses, prefetches and store-buffer drains that a core has under way"},
      {"machine.cpu.write_back_buffers", "", cpu<&CpuSpec::write_back_buffers>, kDefault, 1, 1024,
       "dirty victims of a core that wait for the bus"},
      {"machine.cpu.pair_prefetch", "", cpu<&CpuSpec::pair_prefetch>, kDefault, 0, 0,
       "a miss also asks for the other line of an aligned pair, to read it: never, of loads, or of stores and atomics, too"},
      {"machine.cpu.ownership_prefetch", "", cpu<&CpuSpec::ownership_prefetch>, kDefault, 0, 0,
       "a store or atomic that waits behind others in the store buffer asks for the right to write its line meanwhile"},

      {"machine.footprint.tlb_entries", "entries", footprint<&FootprintSpec::tlb_entries>, kDefault, 0, 1 << 16,
       "of a core's data TLB; 0: no translation is ever missing", kOfPages},
      {"machine.footprint.tlb_ways", "", footprint<&FootprintSpec::tlb_ways>, kDefault, 1, 1 << 16,
       "its associativity; as many as entries: any page in any entry", kOfPages},
      {"machine.footprint.tlb_page_kib", "KiB", footprint<&FootprintSpec::tlb_page_kib>, kDefault, 1, 1 << 20,
       "what one entry translates", kOfPages},
      {"machine.footprint.tlb_miss_cycles", "cycles", footprint<&FootprintSpec::tlb_miss_cycles>, kDefault, 0, kMostCycles,
       "a walk through the page tables", kOfPages},
      {"machine.footprint.code_cache_kib", "KiB", footprint<&FootprintSpec::code_cache_kib>, kDefault, 0, 1 << 16,
       "a core's nearest cache of code; 0: no code is ever missing", kOfCode},
      {"machine.footprint.code_cache_ways", "", footprint<&FootprintSpec::code_cache_ways>, kDefault, 1, 1024,
       "its associativity", kOfCode},
      {"machine.footprint.code_line_bytes", "bytes", footprint<&FootprintSpec::code_line_bytes>, kDefault, 8, 4096, "its line",
       kOfCode},
      {"machine.footprint.code_miss_cycles", "cycles", footprint<&FootprintSpec::code_miss_cycles>, kDefault, 0, kMostCycles,
       "a line of code that comes from the next cache", kOfCode},
      {"machine.footprint.bytes_per_instruction", "bytes", footprint<&FootprintSpec::bytes_per_instruction>, kDefault, 1, 64,
       "of code, mean", kOfCode},
      {"machine.footprint.kernel_function_bytes", "bytes", footprint<&FootprintSpec::kernel_function_bytes>, kDefault, 1,
       1 << 24, "of code of each kernel function that the workload names", kOfCode},
      {"machine.footprint.user_code_kib", "KiB", footprint<&FootprintSpec::user_code_kib>, kDefault, 1, 1 << 20,
       "of code of each of the workload's functions that is user code", kOfCode},

      {"machine.cache.*.size_kib", "KiB", cache<&CacheSpec::size_kib>, kRequired, 1, 1 << 20, "capacity"},
      {"machine.cache.*.ways", "", cache<&CacheSpec::ways>, kRequired, 1, 1024, "associativity"},
      {"machine.cache.*.line_bytes", "bytes", cache<&CacheSpec::line_bytes>, kRequired, 8, 4096,
       "line size; the outermost cache's is the coherence line"},
      {"machine.cache.*.hit_latency_cycles", "cycles", cache<&CacheSpec::hit_latency_cycles>, kRequired, 1, kMostCycles,
       "load to use on a hit"},
      {"machine.cache.*.inclusive", "", cache<&CacheSpec::inclusive>, kDefault, 0, 0, "holds all that the nearer levels hold"},
      {"machine.cache.*.replacement", "", cache<&CacheSpec::replacement>, kDefault, 0, 0, "which line makes room"},

      {"machine.bus.protocol", "", bus<&BusSpec::protocol>, kRequired, 0, 0,
       "coherence protocol: a name in models/protocols, or a path"},
      {"machine.bus.clock_mhz", "MHz", bus<&BusSpec::clock>, kRequired, 0.001, kMostMhz, "the bus's clock"},
      {"machine.bus.width_bytes", "bytes", bus<&BusSpec::width_bytes>, kRequired, 1, 4096,
       "data that is transferred in a clock"},
      {"machine.bus.line_bytes", "bytes", bus<&BusSpec::line_bytes>, kDefault, 0, 4096,
       "the coherence line on this bus; 0: the outermost cache's line"},
      {"machine.bus.arbitration_clocks", "clocks", bus<&BusSpec::arbitration_clocks>, kDefault, 0, kMostCycles,
       "the arbiter's decision to the address phase"},
      {"machine.bus.address_clocks", "clocks", bus<&BusSpec::address_clocks>, kDefault, 1, kMostCycles,
       "least distance of two address phases"},
      {"machine.bus.snoop_clocks", "clocks", bus<&BusSpec::snoop_clocks>, kDefault, 1, kMostCycles,
       "address phase to snoop result"},
      {"machine.bus.snoop_stall_clocks", "clocks", bus<&BusSpec::snoop_stall_clocks>, kDefault, 1, kMostCycles,
       "a snoop that meets a locked line is sampled again after so long"},
      {"machine.bus.response_clocks", "clocks", bus<&BusSpec::response_clocks>, kDefault, 0, kMostCycles,
       "snoop result to the response of a transaction without data"},
      {"machine.bus.intervention_clocks", "clocks", bus<&BusSpec::intervention_clocks>, kDefault, 0, kMostCycles,
       "snoop result to the first data from another cache"},
      {"machine.bus.turnaround_clocks", "clocks", bus<&BusSpec::turnaround_clocks>, kDefault, 0, kMostCycles,
       "idle data clocks when the sender changes"},
      {"machine.bus.latch_clocks", "clocks", bus<&BusSpec::latch_clocks>, kDefault, 0, kMostCycles,
       "first data on the bus to the core's pins"},
      {"machine.bus.outstanding", "", bus<&BusSpec::outstanding>, kDefault, 1, 1024,
       "transactions between address phase and end of data"},
      {"machine.bus.one_per_line", "", bus<&BusSpec::one_per_line>, kDefault, 0, 0,
       "a request is not granted while another transaction uses its line, so that each pays its whole latency; false: it is "
       "granted, and its snoop is stalled"},
      {"machine.bus.way_ns", "ns", bus<&BusSpec::way_ns>, kDefault, 0, 0,
       "a line's way between each core and another one of its bus, both ends' added: \"0 1.5 3\", cores numbered as `fill` "
       "numbers them; empty: none"},
      {"machine.bus.edge_way_ns", "ns", bus<&BusSpec::edge_way_ns>, kDefault, 0, 0,
       "likewise, a line's way between each core and what is behind its bus"},
      {"machine.bus.places", "", bus<&BusSpec::places>, kDefault, 0, 0,
       "column and row of each core: \"0,0 1,0\"; empty: all are at one place"},
      {"machine.bus.hop_ns", "ns", bus<&BusSpec::hop_ns>, kDefault, 0, kMostNs,
       "a line's way from one column or row to the next, between two cores of a bus"},

      {"machine.memory.latency_ns", "ns", memory<&MemorySpec::latency_ns>, kRequired, 0, kMostNs,
       "address phase to first data"},
      {"machine.memory.banks", "", memory<&MemorySpec::banks>, kDefault, 1, 4096, "banks, interleaved by coherence line"},
      {"machine.memory.bank_busy_ns", "ns", memory<&MemorySpec::bank_busy_ns>, kDefault, 0, kMostNs,
       "an access occupies its bank for so long"},
      {"machine.memory.bandwidth_mb_per_s", "MB/s", memory<&MemorySpec::bandwidth_mb_per_s>, kDefault, 0, 1e9,
       "of all banks together; 0: only banks and bus limit it"},
      {"machine.memory.nodes", "", memory<&MemorySpec::nodes>, kDefault, 0, 0,
       "the nodes that have memory: \"all\", or numbers, \"0 1\"", kOfNodes},
      {"machine.memory.placement", "", memory<&MemorySpec::placement>, kDefault, 0, 0,
       "where an object's memory is unless [placement] or the workload says otherwise", kOfNodes},
      {"machine.memory.page_kib", "KiB", memory<&MemorySpec::page_kib>, kDefault, 1, 1 << 20,
       "what first_touch and interleaved place as a whole", kOfNodes},
      {"machine.memory.node.*.latency_ns", "ns", memory_of<&MemoryOfNodeSpec::latency_ns>, kDefault, kAsTheRest, kMostNs,
       "of this node's memory, look-up to first data; -1: as memory.latency_ns", kOfNodes},
      {"machine.memory.node.*.banks", "", memory_of<&MemoryOfNodeSpec::banks>, kDefault, kAsTheRest, 4096,
       "its banks; -1: as memory.banks", kOfNodes},
      {"machine.memory.node.*.bank_busy_ns", "ns", memory_of<&MemoryOfNodeSpec::bank_busy_ns>, kDefault, kAsTheRest, kMostNs,
       "an access occupies its bank for so long; -1: as memory.bank_busy_ns", kOfNodes},
      {"machine.memory.node.*.bandwidth_mb_per_s", "MB/s", memory_of<&MemoryOfNodeSpec::bandwidth_mb_per_s>, kDefault,
       kAsTheRest, kMostMbPerS, "of all its banks together; 0: no limit, -1: as memory.bandwidth_mb_per_s", kOfNodes},
      {"machine.memory.node.*.directory_latency_ns", "ns", memory_of<&MemoryOfNodeSpec::directory_latency_ns>, kDefault,
       kAsTheRest, kMostNs, "of the directory of its lines; -1: as directory.latency_ns", kOfNodes},
      {"machine.memory.node.*.directory_line_busy_ns", "ns", memory_of<&MemoryOfNodeSpec::directory_line_busy_ns>, kDefault,
       kAsTheRest, kMostNs, "likewise; -1: as directory.line_busy_ns", kOfNodes},

      {"machine.node.protocol", "", node<&NodeSpec::protocol>, kDefault, 0, 0,
       "protocol of the controllers behind the buses: a name in models/protocols, or a path; \"\": the machine is one bus",
       kOfNodes},
      {"machine.node.latency_ns", "ns", node<&NodeSpec::latency_ns>, kDefault, 0, kMostNs, "one pass through a controller",
       kOfNodes},
      {"machine.node.occupancy_ns", "ns", node<&NodeSpec::occupancy_ns>, kDefault, 0, kMostNs,
       "a pass keeps other messages out of the controller for so long", kOfNodes},
      {"machine.node.request_crossing_ns", "ns", node<&NodeSpec::request_crossing_ns>, kDefault, 0, kMostNs,
       "a message without data occupies the stage at the node's edge for so long", kOfNodes},
      {"machine.node.line_crossing_ns", "ns", node<&NodeSpec::line_crossing_ns>, kDefault, 0, kMostNs,
       "likewise, a message with a line", kOfNodes},
      {"machine.node.cache_size_kib", "KiB", node<&NodeSpec::cache_size_kib>, kDefault, 0, 1 << 20,
       "the cache behind each bus; 0: as large as it has to be", kOfNodes},
      {"machine.node.cache_ways", "", node<&NodeSpec::cache_ways>, kDefault, 1, 1024, "its associativity", kOfNodes},
      {"machine.node.cache_latency_ns", "ns", node<&NodeSpec::cache_latency_ns>, kDefault, 0, kMostNs,
       "its look-up to first data", kOfNodes},

      {"machine.group.*.members", "", group<&GroupSpec::members>, kRequired, 1, kMostNodes,
       "of one group: controllers of buses, or groups of the level before", kOfNodes},
      {"machine.group.*.protocol", "", group<&GroupSpec::protocol>, kRequired, 0, 0,
       "of its controller: a name in models/protocols, or a path; the same on all levels", kOfNodes},
      {"machine.group.*.latency_ns", "ns", group<&GroupSpec::latency_ns>, kDefault, 0, kMostNs,
       "one pass through its controller, the look-up of tags included", kOfNodes},
      {"machine.group.*.occupancy_ns", "ns", group<&GroupSpec::occupancy_ns>, kDefault, 0, kMostNs,
       "a pass keeps other messages out of the controller for so long", kOfNodes},
      {"machine.group.*.link_ns", "ns", group<&GroupSpec::link_ns>, kDefault, 0, kMostNs,
       "from a member to the group, and back, and from member to member", kOfNodes},
      {"machine.group.*.size_kib", "KiB", group<&GroupSpec::size_kib>, kDefault, 0, 1 << 22,
       "of the cache that the group shares; 0: as large as it has to be", kOfNodes},
      {"machine.group.*.ways", "", group<&GroupSpec::ways>, kDefault, 1, 1024, "its associativity", kOfNodes},
      {"machine.group.*.cache_latency_ns", "ns", group<&GroupSpec::cache_latency_ns>, kDefault, 0, kMostNs,
       "its look-up to first data", kOfNodes},
      {"machine.group.*.filter_entries", "entries", group<&GroupSpec::filter_entries>, kDefault, 0, 1 << 24,
       "of the filter that knows what members have; 0: one for every line. Fewer need a protocol with a filter of its own",
       kOfNodes},
      {"machine.group.*.filter_ways", "", group<&GroupSpec::filter_ways>, kDefault, 1, 1024, "associativity of the filter",
       kOfNodes},
      {"machine.group.*.slices", "", group<&GroupSpec::slices>, kDefault, 1, 256,
       "stops of a ring or mesh; lines are spread over a slice of the cache at each", kOfNodes},
      {"machine.group.*.slice_topology", "", group<&GroupSpec::slice_topology>, kDefault, 0, 0, "how the stops are joined",
       kOfNodes},
      {"machine.group.*.slice_columns", "", group<&GroupSpec::slice_columns>, kDefault, 0, 256,
       "of a mesh of stops; 0: as square as their number allows", kOfNodes},
      {"machine.group.*.slice_hop_ns", "ns", group<&GroupSpec::slice_hop_ns>, kDefault, 0, kMostNs, "from a stop to the next",
       kOfNodes},
      {"machine.group.*.positions", "", group<&GroupSpec::positions>, kDefault, 0, 0,
       "the stop of each member, \"0 3\"; \"\": spread evenly", kOfNodes},

      {"machine.directory.protocol", "", directory<&DirectorySpec::protocol>, kDefault, 0, 0,
       "protocol of the homes' directories: a name in models/protocols, or a path", kOfNodes},
      {"machine.directory.latency_ns", "ns", directory<&DirectorySpec::latency_ns>, kDefault, 0, kMostNs,
       "look-up and update of a line's entry", kOfNodes},
      {"machine.directory.line_busy_ns", "ns", directory<&DirectorySpec::line_busy_ns>, kDefault, 0, kMostNs,
       "a request keeps others of its line waiting at the home for so long", kOfNodes},
      {"machine.directory.entries", "", directory<&DirectorySpec::entries>, kDefault, 0, 1 << 24,
       "lines that a home can keep track of at once; 0: all", kOfNodes},
      {"machine.directory.ways", "", directory<&DirectorySpec::ways>, kDefault, 1, 1024, "associativity of its entries",
       kOfNodes},

      {"machine.network.topology", "", network<&NetworkSpec::topology>, kDefault, 0, 0, "which nodes have a link", kOfNodes},
      {"machine.network.columns", "", network<&NetworkSpec::columns>, kDefault, 0, kMostNodes,
       "of a mesh or torus; 0: as square as the number of nodes allows", kOfNodes},
      {"machine.network.latency_ns", "ns", network<&NetworkSpec::latency_ns>, kDefault, 0, kMostNs,
       "of each link, or of the way through the crossbar", kOfNodes},
      {"machine.network.bandwidth_mb_per_s", "MB/s", network<&NetworkSpec::bandwidth_mb_per_s>, kDefault, 0, kMostMbPerS,
       "of each link, each way; 0: no limit", kOfNodes},
      {"machine.network.header_bytes", "bytes", network<&NetworkSpec::header_bytes>, kDefault, 0, 4096,
       "of a message; one with a line has the line's bytes on top", kOfNodes},
      {"machine.network.credits", "messages", network<&NetworkSpec::credits>, kDefault, 0, 1 << 20,
       "of one class, for which a link has room at its end; 0: no limit", kOfNodes},
      {"machine.network.link.*.latency_ns", "ns", link<&LinkSpec::latency_ns>, kRequired, 0, kMostNs,
       "from one end to the other", kOfNodes},
      {"machine.network.link.*.bandwidth_mb_per_s", "MB/s", link<&LinkSpec::bandwidth_mb_per_s>, kDefault, 0, kMostMbPerS,
       "each way; 0: no limit", kOfNodes},
      {"machine.network.link.*.back_latency_ns", "ns", link<&LinkSpec::back_latency_ns>, kDefault, kAsTheRest, kMostNs,
       "from the node of the higher number to the other; -1: as the other way", kOfNodes},
      {"machine.network.link.*.back_bandwidth_mb_per_s", "MB/s", link<&LinkSpec::back_bandwidth_mb_per_s>, kDefault, kAsTheRest,
       kMostMbPerS, "likewise; -1: as the other way", kOfNodes},
      {"machine.network.pair.*.latency_ns", "ns", pair<&PairSpec::latency_ns>, kRequired, 0, kMostNs,
       "of a message between these nodes, beside that of its links", kOfNodes},
      {"machine.network.pair.*.back_latency_ns", "ns", pair<&PairSpec::back_latency_ns>, kDefault, kAsTheRest, kMostNs,
       "from the node of the higher number to the other; -1: as the other way", kOfNodes},

      {"run.warmup_us", "us", run<&RunSpec::warmup_us>, kDefault, 0, kMostUs, "statistics start after this"},
      {"run.measure_us", "us", run<&RunSpec::measure_us>, kDefault, 0, kMostUs,
       "length of the measurement; 0: until every program has ended"},
      {"run.record_timeline", "", run<&RunSpec::record_timeline>, kDefault, 0, 0,
       "what every CPU, lock, bus and link did when, in timeline.csv; of the first seed"},
      {"run.timeline_us", "us", run<&RunSpec::timeline_us>, kDefault, 0.001, kMostUs,
       "length of the timeline, from the start of the measured time"},
      {"run.seeds", "", seeds, kDefault, 1, 1000, "runs per point, each with a seed of its own"},

      {"engine.run_ahead", "", engine<&EngineSpec::run_ahead>, kDefault, 0, 0, "cores run ahead of kernel time while they hit"},
      {"engine.parked_spins", "", engine<&EngineSpec::parked_spins>, kDefault, 0, 0,
       "spinning CPUs sleep until their line changes"},
      {"engine.reverse_construction", "", engine<&EngineSpec::reverse_construction>, kDefault, 0, 0,
       "build and start the cores in the opposite order"},
      {"engine.horizon_slack_ticks", "ticks", engine<&EngineSpec::horizon_slack_ticks>, kDefault, 0, 1e6,
       "self-test: 1 or more breaks run-ahead on purpose"},
      {"engine.watchdog_us", "us", engine<&EngineSpec::watchdog_us>, kDefault, 1, kMostUs,
       "simulated time without any completed operation that is no spin"},
  };
  return rows;
}

namespace {

// The words for the values of an enumeration, in the enumeration's order.
template <class Enum>
struct Words;
template <>
struct Words<Replacement> {
  static constexpr std::array kList = kReplacementNames;
};
template <>
struct Words<Consistency> {
  static constexpr std::array kList = kConsistencyNames;
};
template <>
struct Words<CpuOrder> {
  static constexpr std::array<std::string_view, 3> kList = {"spread", "fill", "fill_cores"};
};
template <>
struct Words<PairPrefetch> {
  static constexpr std::array<std::string_view, 3> kList = {"none", "loads", "all"};
};
template <>
struct Words<Placement> {
  static constexpr std::array<std::string_view, 3> kList = {"local", "first_touch", "interleaved"};
};
template <>
struct Words<Topology> {
  static constexpr std::array<std::string_view, 7> kList = {"crossbar", "fully_connected", "ring", "mesh",
                                                            "torus",    "hypercube",       "links"};
};

template <>
struct Words<SliceTopology> {
  static constexpr std::array<std::string_view, 2> kList = {"ring", "mesh"};
};

struct TypeOf {
  ValueType operator()(const int*) const { return ValueType::integer; }
  ValueType operator()(const bool*) const { return ValueType::boolean; }
  ValueType operator()(const double*) const { return ValueType::number; }
  ValueType operator()(const Frequency*) const { return ValueType::number; }
  template <class Text>
  ValueType operator()(const Text*) const {
    return ValueType::text;
  }
};

struct ChoicesOf {
  template <class T>
  std::vector<std::string> operator()(const T*) const {
    if constexpr (std::is_enum_v<T>) return {Words<T>::kList.begin(), Words<T>::kList.end()};
    return {};
  }
};

struct Read {
  ConfigValue operator()(const int* value) const { return static_cast<std::int64_t>(*value); }
  ConfigValue operator()(const bool* value) const { return *value; }
  ConfigValue operator()(const double* value) const { return *value; }
  ConfigValue operator()(const std::string* value) const { return *value; }
  ConfigValue operator()(const Frequency* value) const {
    return static_cast<double>(value->numerator_mhz) / static_cast<double>(value->denominator);
  }
  template <class Enum>
  ConfigValue operator()(const Enum* value) const {
    return std::string(Words<Enum>::kList.at(static_cast<std::size_t>(*value)));
  }
};

double as_number(const ConfigValue& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer ? static_cast<double>(*integer) : std::get<double>(value);
}

template <class Enum>
std::optional<Enum> from_word(std::string_view word) {
  const auto found = std::find(Words<Enum>::kList.begin(), Words<Enum>::kList.end(), word);
  if (found == Words<Enum>::kList.end()) return std::nullopt;
  return static_cast<Enum>(found - Words<Enum>::kList.begin());
}

struct Assign {
  const std::string& path;
  const Setting& setting;
  void operator()(int* target) const { *target = static_cast<int>(std::get<std::int64_t>(setting.value)); }
  void operator()(bool* target) const { *target = std::get<bool>(setting.value); }
  void operator()(double* target) const { *target = as_number(setting.value); }
  void operator()(std::string* target) const { *target = std::get<std::string>(setting.value); }
  void operator()(Frequency* target) const {
    const auto frequency = to_frequency(as_number(setting.value));
    if (!frequency)
      fail(setting.origin, path,
           fmt::format("{} MHz is no fraction with a denominator of at most 64", plain_text(setting.value)));
    *target = *frequency;
  }
  template <class Enum>
  void operator()(Enum* target) const {
    *target = from_word<Enum>(std::get<std::string>(setting.value)).value_or(*target);
  }
};

constexpr std::string_view kEachCache = "machine.cache.*.";
constexpr std::string_view kEachLink = "machine.network.link.*.";
constexpr std::string_view kEachGroup = "machine.group.*.";
constexpr std::string_view kEachPair = "machine.network.pair.*.";
constexpr std::string_view kEachMemory = "machine.memory.node.*.";

// The rows of named parts stand together; a listing goes part by part. Returns the row behind them.
template <class Visit>
std::size_t for_each_part(std::size_t begin, std::string_view each, const std::vector<std::string>& names, Visit visit) {
  const auto& rows = schema();
  std::size_t end = begin;
  while (end < rows.size() && rows[end].path.starts_with(each)) ++end;
  const std::string_view table = each.substr(0, each.size() - 2);  // without "*."
  for (std::size_t part = 0; part < names.size(); ++part) {
    for (std::size_t row = begin; row < end; ++row) {
      visit(rows[row], fmt::format("{}{}.{}", table, names[part], rows[row].path.substr(each.size())), part);
    }
  }
  return end;
}

// Calls visit(parameter, path, part) for every parameter; those of named parts once for each part.
template <class Visit>
void for_each_parameter(const PartNames& parts, Visit visit) {
  const auto& rows = schema();
  for (std::size_t i = 0; i < rows.size();) {
    if (rows[i].path.starts_with(kEachCache)) {
      i = for_each_part(i, kEachCache, parts.caches, visit);
    } else if (rows[i].path.starts_with(kEachLink)) {
      i = for_each_part(i, kEachLink, parts.links, visit);
    } else if (rows[i].path.starts_with(kEachGroup)) {
      i = for_each_part(i, kEachGroup, parts.groups, visit);
    } else if (rows[i].path.starts_with(kEachPair)) {
      i = for_each_part(i, kEachPair, parts.pairs, visit);
    } else if (rows[i].path.starts_with(kEachMemory)) {
      i = for_each_part(i, kEachMemory, parts.memories, visit);
    } else {
      visit(rows[i], std::string(rows[i].path), 0);
      ++i;
    }
  }
}

std::string_view needed_by(PartOf part) {
  switch (part) {
    case PartOf::nodes: return "machine.node.protocol";
    case PartOf::pages: return "machine.footprint.tlb_entries";
    case PartOf::code: return "machine.footprint.code_cache_kib";
    case PartOf::any:
    case PartOf::structure: break;
  }
  return "";
}

// The key without which this one says nothing. Where cores are is only said where they are not all alike.
std::string needed_by(const Parameter& parameter) {
  constexpr std::string_view kPlaces[] = {"machine.bus.way_ns", "machine.bus.edge_way_ns", "machine.bus.places"};
  if (parameter.path == "machine.bus.hop_ns") return "machine.bus.places";
  if (std::find(std::begin(kPlaces), std::end(kPlaces), parameter.path) != std::end(kPlaces))
    return std::string(parameter.path);
  return std::string(needed_by(parameter.part_of));
}

TypedConfiguration blank(const PartNames& parts) {
  TypedConfiguration configuration;
  for (const auto& name : parts.caches) configuration.machine.caches.emplace_back().name = name;
  for (const auto& name : parts.links) configuration.machine.network.links.emplace_back().name = name;
  for (const auto& name : parts.groups) configuration.machine.groups.emplace_back().name = name;
  for (const auto& name : parts.pairs) configuration.machine.network.pairs.emplace_back().name = name;
  for (const auto& name : parts.memories) configuration.machine.memory_of_node.emplace_back().name = name;
  return configuration;
}

}  // namespace

std::vector<KeyInfo> schema_keys(const PartNames& parts) {
  std::vector<KeyInfo> keys;
  auto configuration = blank(parts);
  for_each_parameter(parts, [&](const Parameter& parameter, const std::string& path, std::size_t part) {
    const Target target = parameter.locate(configuration, part);
    KeyInfo key{path,
                std::visit(TypeOf{}, target),
                std::string(parameter.unit),
                std::string(parameter.meaning),
                parameter.minimum,
                parameter.maximum,
                std::visit(ChoicesOf{}, target),
                parameter.part_of == PartOf::structure,
                needed_by(parameter)};
    if (!parameter.required) key.default_value = canonical(std::visit(Read{}, target));
    keys.push_back(std::move(key));
  });
  return keys;
}

std::string_view word_of(Topology topology) {
  return Words<Topology>::kList.at(static_cast<std::size_t>(topology));
}

std::optional<Placement> to_placement_policy(std::string_view word) {
  return from_word<Placement>(word);
}

bool has_effect(const KeyInfo& key, const Settings& settings) {
  if (key.needs.empty()) return true;
  const ConfigValue& needed = settings.at(key.needs).value;
  return needed != ConfigValue{std::string{}} && needed != ConfigValue{std::int64_t{0}};
}

bool is_shown(const KeyInfo& key, const Settings& settings) {
  return has_effect(key, settings) || !key.default_value || settings.at(key.path).value != *key.default_value;
}

void fill_defaults(Settings& settings, const PartNames& parts, std::string_view prefix, const Origin& origin) {
  for (const KeyInfo& key : schema_keys(parts)) {
    if (!key.path.starts_with(prefix) || settings.contains(key.path)) continue;
    if (!key.default_value) {
      fail(origin, key.path,
           fmt::format("this key is missing and has no default ({}{}{})", key.meaning, key.unit.empty() ? "" : ", in ",
                       key.unit));
    }
    settings.emplace(key.path, Setting{*key.default_value, origin});
  }
}

TypedConfiguration to_typed(const Settings& settings, const PartNames& parts) {
  auto configuration = blank(parts);
  for_each_parameter(parts, [&](const Parameter& parameter, const std::string& path, std::size_t part) {
    const auto found = settings.find(path);
    if (found == settings.end()) return;
    std::visit(Assign{path, found->second}, parameter.locate(configuration, part));
  });
  return configuration;
}

}  // namespace linebounce::sim
