#include "commands/check/mutation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "workloads/program/random.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

enum Group : int {
  kShape,
  kCaches,
  kOrder,
  kCosts,
  kBuffers,
  kClocks,
  kBus,
  kMemory,
  kNode,
  kNodeCache,
  kNetwork,
  kFootprint,
  kWorkload
};

constexpr std::uint64_t kDrawing = 7;  // selects this stream of random numbers
constexpr int kSmallestLine = 16;
constexpr int kUsualLine = 128;  // largest line size to draw, in bytes, unless the machine's bus is wider
constexpr int kMostWays = 32;

std::vector<int> powers_of_two(int from, int to) {
  std::vector<int> powers;
  for (int power = from; power <= to; power *= 2) powers.push_back(power);
  return powers;
}

template <class Enum>
std::vector<std::string> words_of() {
  return {kWordsOf<Enum>.begin(), kWordsOf<Enum>.end()};
}

class Mutation {
 public:
  Mutation(const RandomBase& base, std::uint64_t seed, std::int64_t round)
      : base_(base), spec_(base.spec), random_(seed, static_cast<std::uint64_t>(round), kDrawing), nodes_(spec_.nodes) {}

  RandomCase draw(std::int64_t references) {
    case_.seed = 1 + random_.below(1U << 31);
    shape();
    caches();
    if (in(2, 3)) order();
    if (in(2, 3)) costs();
    if (in(2, 3)) buffers();
    if (in(1, 2)) clocks();
    if (in(2, 3)) bus();
    if (in(3, 4)) memory();
    if (spec_.has_nodes()) between_nodes();
    workload();
    if (in(1, 3)) footprint();
    if (in(1, 2)) cores_of_today();
    case_.operations = std::max<std::int64_t>(1, references / cpus_of(base_, case_));
    return std::move(case_);
  }

 private:
  // True with probability share / all.
  bool in(std::uint64_t share, std::uint64_t all) { return random_.below(all) < share; }

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(high - low + 1)));
  }

  template <class T>
  T one_of(const std::vector<T>& choices) {
    return choices[random_.below(choices.size())];
  }

  void set(Group group, const std::string& path, const ConfigValue& value) { case_.set(path, value, group); }
  void set_between(Group group, const std::string& path, std::int64_t low, std::int64_t high) {
    set(group, path, between(low, high));
  }
  void set_to_one_of(Group group, const std::string& path, const std::vector<std::int64_t>& choices) {
    set(group, path, one_of(choices));
  }
  void set_to_one_of(Group group, const std::string& path, const std::vector<std::string>& choices) {
    set(group, path, one_of(choices));
  }

  // Changes the numbers of threads per core, of CPUs and of nodes, the nodes with memory, and the distances on the bus.
  void shape() {
    int threads = spec_.cpu.threads_per_core;
    if (in(1, 3)) threads = one_of(divisors(spec_.cpus_present, 4));
    set(kShape, "machine.cpu.threads_per_core", std::int64_t{threads});
    set_to_one_of(kShape, "machine.cpu_order", std::vector<std::string>{"spread", "fill"});
    const int few = std::min(spec_.cpus_present, 6);
    set_between(kShape, "machine.cpus", std::min(few, 2), in(1, 4) ? spec_.cpus_present : few);
    const int cores = spec_.cpus_present / threads;
    if (spec_.has_nodes()) places(cores);
    ways(cores);
  }

  // In one of four cases, gives each core a random distance. Otherwise removes the distances in the machine's file, which may
  // be for another number of cores.
  void ways(int cores) {
    const bool everywhere = in(1, 4);
    const auto list = [&](const auto& one) {
      std::string text;
      for (int core = 0; core < cores && everywhere; ++core) text += (core == 0 ? "" : " ") + one();
      return text;
    };
    const auto way = [this] { return std::to_string(between(0, 20)); };
    const auto place = [this] {
      const std::int64_t column = between(0, 4);
      return fmt::format("{},{}", column, between(0, 4));
    };
    if (everywhere || !spec_.bus.way_ns.empty()) set(kShape, "machine.bus.way_ns", list(way));
    if (everywhere || !spec_.bus.edge_way_ns.empty()) set(kShape, "machine.bus.edge_way_ns", list(way));
    if (everywhere || !spec_.bus.places.empty()) set(kShape, "machine.bus.places", list(place));
    if (everywhere) set_between(kShape, "machine.bus.hop_ns", 0, 5);
  }

  static std::vector<int> divisors(int number, int most) {
    std::vector<int> found;
    for (int i = 1; i <= std::min(number, most); ++i) {
      if (number % i == 0) found.push_back(i);
    }
    return found;
  }

  // Chooses nodes for `cores` cores, and sometimes one node without any.
  void places(int cores) {
    const bool fixed = spec_.network.topology == Topology::links || cores % spec_.buses_per_node != 0;
    std::vector<int> fitting = fixed ? std::vector<int>{} : divisors(cores / spec_.buses_per_node, 8);
    int with_cpus = nodes_;
    if (!fitting.empty() && in(1, 2)) with_cpus = one_of(fitting);
    const bool idle_node = !fixed && in(1, 5);
    nodes_ = with_cpus + (idle_node ? 1 : 0);
    if (nodes_ == spec_.nodes && !idle_node) return memory_nodes();
    const int idle = idle_node ? static_cast<int>(between(0, nodes_ - 1)) : -1;
    set(kShape, "machine.nodes", std::int64_t{nodes_});
    set(kShape, "machine.cpu_nodes", all_but(idle));
    set(kShape, "machine.network.topology", std::string("crossbar"));
    set(kShape, "machine.network.credits", std::int64_t{0});
    memory_nodes();
  }

  [[nodiscard]] std::string all_but(int node) const {
    std::string text;
    for (int i = 0; i < nodes_; ++i) {
      if (i != node) text += fmt::format("{}{}", text.empty() ? "" : " ", i);
    }
    return text;
  }

  void memory_nodes() {
    if (nodes_ > 1 && in(1, 3)) {
      const bool one = in(1, 2);
      const auto node = static_cast<int>(between(0, nodes_ - 1));
      set(kShape, "machine.memory.nodes", one ? fmt::format("{}", node) : all_but(node));
    } else {
      set(kShape, "machine.memory.nodes", std::string("all"));
    }
  }

  // Makes caches of a few lines, so that evictions, conflicts and writebacks are frequent.
  void caches() {
    line_ = spec_.bus.line_bytes;
    if (in(1, 3)) {
      const int widest = std::max(kSmallestLine, spec_.bus.width_bytes);
      line_ = one_of(powers_of_two(widest, std::max(widest, kUsualLine)));
    }
    int inner_line = line_;
    for (std::size_t level = spec_.caches.size(); level-- > 0;) {
      if (level + 1 < spec_.caches.size() && in(1, 3)) inner_line = std::max(kSmallestLine, inner_line / 2);
      inner_line = std::min(inner_line, line_);
      cache(level, inner_line);
    }
    set(kCaches, "machine.bus.line_bytes", std::int64_t{0});
  }

  void cache(std::size_t level, int line_bytes) {
    const std::string at = "machine.cache." + spec_.caches[level].name + ".";
    const int outer = static_cast<int>(spec_.caches.size() - 1 - level);
    const int usual = outer == 0 ? 2 : 1;  // smallest size_kib for this level
    const int kib = std::max(usual, (line_bytes + 1023) / 1024);
    const int lines = kib * 1024 / line_bytes;
    const int ways = one_of(powers_of_two(1, std::min(lines, kMostWays)));
    set(kCaches, at + "size_kib", std::int64_t{kib});
    set(kCaches, at + "ways", std::int64_t{ways});
    set(kCaches, at + "line_bytes", std::int64_t{line_bytes});
    set_to_one_of(kCaches, at + "replacement", words_of<Replacement>());
    if (level > 0) set(kCaches, at + "inclusive", !in(1, 4));
    const auto nearness = static_cast<std::int64_t>(level);
    set_between(kCosts, at + "hit_latency_cycles", 1 + 4 * nearness, 4 + 12 * nearness);
  }

  void order() {
    const auto model = one_of(words_of<Consistency>());
    set(kOrder, "machine.cpu.consistency", model);
    set(kOrder, "machine.cpu.store_buffer_entries", model == "sc" ? std::int64_t{0} : between(1, 8));
  }

  void costs() {
    set_between(kCosts, "machine.cpu.issue_per_cycle", 1, 4);
    set_between(kCosts, "machine.cpu.atomic_latency_cycles", 0, 100);
    set_between(kCosts, "machine.cpu.compare_exchange_latency_cycles", 0, 120);
    set_between(kCosts, "machine.cpu.fence_latency_cycles", 0, 40);
    set_between(kCosts, "machine.cpu.fill_latency_cycles", 0, 20);
    set_between(kCosts, "machine.cpu.hold_ns", 0, 20);
    set_between(kCosts, "machine.cpu.replay_cycles", 0, 6);
    set_to_one_of(kCosts, "machine.cpu.hold_after", words_of<HoldAfter>());
    set_between(kCosts, "machine.cpu.shared_issue_pct", 30, 100);
    set_between(kCosts, "machine.cpu.interrupt_latency_cycles", 0, 300);
    set_between(kCosts, "machine.cpu.ipi_latency_ns", 0, 1000);
  }

  void buffers() {
    set_between(kBuffers, "machine.cpu.outstanding_misses", 1, 4);
    set_between(kBuffers, "machine.cpu.write_back_buffers", 1, 3);
    set_between(kBuffers, "machine.bus.outstanding", 1, 8);
  }

  void clocks() {
    set_to_one_of(kClocks, "machine.cpu.clock_mhz", std::vector<std::int64_t>{333, 700, 1000, 2000, 3000});
    set(kClocks, "machine.bus.clock_mhz", one_of(std::vector<double>{66.5, 100, 133, 200, 666.667}));
  }

  void bus() {
    set_to_one_of(kBus, "machine.bus.width_bytes", std::vector<std::int64_t>{4, 8, 16});
    set_between(kBus, "machine.bus.arbitration_clocks", 1, 3);
    set_between(kBus, "machine.bus.address_clocks", 1, 4);
    set_between(kBus, "machine.bus.snoop_clocks", 1, 5);
    set_between(kBus, "machine.bus.snoop_stall_clocks", 1, 3);
    set_between(kBus, "machine.bus.response_clocks", 0, 3);
    set_between(kBus, "machine.bus.intervention_clocks", 0, 4);
    set_between(kBus, "machine.bus.turnaround_clocks", 0, 2);
    set_between(kBus, "machine.bus.latch_clocks", 0, 2);
    set_between(kBus, "machine.bus.invalidation_clocks", -1, 6);
    set(kBus, "machine.bus.one_per_line", in(1, 2));
    set_to_one_of(kBus, "machine.bus.next", words_of<NextRequest>());
    set_between(kBus, "machine.bus.next_limit_ns", 0, 400);
    set_to_one_of(kBus, "machine.bus.snoop_waits_ns", std::vector<std::int64_t>{-1, 0, 0, 150});
    set_between(kBus, "machine.bus.overlap_ns", 0, 40);
  }

  void memory() {
    set_between(kMemory, "machine.memory.latency_ns", 0, in(1, 4) ? 1000 : 150);
    set_to_one_of(kMemory, "machine.memory.banks", std::vector<std::int64_t>{1, 2, 4});
    set_between(kMemory, "machine.memory.bank_busy_ns", 0, 100);
    set_to_one_of(kMemory, "machine.memory.bandwidth_mb_per_s", std::vector<std::int64_t>{0, 0, 200, 2000});
    if (!spec_.has_nodes()) return;
    set_to_one_of(kMemory, "machine.memory.placement", words_of<Placement>());
    set_to_one_of(kMemory, "machine.memory.page_kib", std::vector<std::int64_t>{1, 4});
  }

  void between_nodes() {
    if (in(3, 4)) controllers();
    if (in(3, 4)) node_cache();
    if (nodes_ > 1 && in(3, 4)) network();
  }

  // Sets a latency to zero, a small or a large value. Unusual orders arise when one part is much slower than the rest.
  void set_latency(Group group, const std::string& path) {
    const auto most = one_of(std::vector<std::int64_t>{0, 20, 60, 400});
    set_between(group, path, 0, most);
  }

  void controllers() {
    set_latency(kNode, "machine.node.latency_ns");
    set_latency(kNode, "machine.node.occupancy_ns");
    set_latency(kNode, "machine.node.request_crossing_ns");
    set_latency(kNode, "machine.node.line_crossing_ns");
    set_latency(kNode, "machine.directory.latency_ns");
    set_latency(kNode, "machine.directory.line_busy_ns");
    if (in(1, 4)) set(kNode, "machine.directory.line_busy_ns", std::int64_t{-1});
    set(kNode, "machine.directory.broadcasts", in(1, 3));
  }

  void node_cache() {
    const int kib = std::max(one_of(std::vector<int>{1, 2, 4, 16}), (line_ + 1023) / 1024);
    const int ways = one_of(powers_of_two(1, std::min(8, kib * 1024 / line_)));
    set(kNodeCache, "machine.node.cache_size_kib", std::int64_t{kib});
    set(kNodeCache, "machine.node.cache_ways", std::int64_t{ways});
    set_latency(kNodeCache, "machine.node.cache_latency_ns");
  }

  void network() {
    set_latency(kNetwork, "machine.network.latency_ns");
    set_to_one_of(kNetwork, "machine.network.bandwidth_mb_per_s", std::vector<std::int64_t>{0, 0, 50, 500, 5000});
    set_to_one_of(kNetwork, "machine.network.header_bytes", std::vector<std::int64_t>{0, 8, 16, 64});
    if (spec_.network.topology == Topology::links) return;
    std::vector<std::string> fitting = {"crossbar", "fully_connected", "ring", "mesh", "torus"};
    if (std::has_single_bit(static_cast<unsigned>(nodes_))) fitting.emplace_back("hypercube");
    const std::string topology = one_of(fitting);
    const bool circles = topology == "ring" || topology == "torus";
    set(kNetwork, "machine.network.topology", topology);
    set(kNetwork, "machine.network.columns", std::int64_t{0});
    const auto credits = one_of(std::vector<std::int64_t>{0, 0, 1, 2, 8});
    set(kNetwork, "machine.network.credits", circles ? std::int64_t{0} : credits);
  }

  // Makes TLBs and instruction caches so small that the case's own pages and functions evict each other.
  void footprint() {
    set_to_one_of(kFootprint, "machine.footprint.tlb_entries", std::vector<std::int64_t>{2, 4, 16});
    set_to_one_of(kFootprint, "machine.footprint.tlb_ways", std::vector<std::int64_t>{1, 2});
    set_to_one_of(kFootprint, "machine.footprint.tlb_page_kib", std::vector<std::int64_t>{1, 4});
    set_between(kFootprint, "machine.footprint.tlb_miss_cycles", 0, 60);
    set_to_one_of(kFootprint, "machine.footprint.code_cache_kib", std::vector<std::int64_t>{1, 2});
    set_to_one_of(kFootprint, "machine.footprint.code_cache_ways", std::vector<std::int64_t>{1, 2, 4});
    set_between(kFootprint, "machine.footprint.code_miss_cycles", 0, 40);
    set_to_one_of(kFootprint, "machine.footprint.kernel_function_bytes", std::vector<std::int64_t>{64, 512, 3000});
  }

  void cores_of_today() {
    set_between(kCosts, "machine.cpu.spinning_sibling_pct", 30, 100);
    set_between(kCosts, "machine.cpu.pausing_sibling_pct", 50, 100);
    set_between(kCosts, "machine.cpu.pause_cycles", 0, 60);
    set_between(kCosts, "machine.cpu.spin_exit_cycles", 0, 30);
    set_between(kCosts, "machine.cpu.ipi_send_cycles", 0, 100);
    set_to_one_of(kCosts, "machine.cpu.pair_prefetch", std::vector<std::string>{"none", "loads", "all", "all"});
    set(kCosts, "machine.cpu.ownership_prefetch", in(1, 2));
    set_between(kWorkload, "workload.load_all_share", 0, 20);
    set_between(kWorkload, "workload.invalidate_share", 0, 3);
  }

  void workload() {
    set_to_one_of(kWorkload, "workload.shared_lines", std::vector<std::int64_t>{1, 2, 3, 4, 8, 16, 40});
    set_to_one_of(kWorkload, "workload.private_lines", std::vector<std::int64_t>{1, 4, 20, 60, 200});
    set_to_one_of(kWorkload, "workload.load_share", std::vector<std::int64_t>{20, 35, 60});
    set_to_one_of(kWorkload, "workload.store_share", std::vector<std::int64_t>{5, 25, 60});
    set_to_one_of(kWorkload, "workload.atomic_share", std::vector<std::int64_t>{0, 12, 40});
    set_to_one_of(kWorkload, "workload.prefetch_share", std::vector<std::int64_t>{0, 6, 20});
    set_to_one_of(kWorkload, "workload.compute_share", std::vector<std::int64_t>{0, 0, 10});
    // With 100, cases mostly use locks.
    set_to_one_of(kWorkload, "workload.lock_share", std::vector<std::int64_t>{0, 1, 3, 100});
    for (const char* const kind : {"fence", "spin", "interrupt", "sleep"}) {
      set_between(kWorkload, fmt::format("workload.{}_share", kind), 0, 3);
    }
  }

  const RandomBase& base_;
  const MachineSpec& spec_;
  Random random_;
  int nodes_;
  int line_ = 0;
  RandomCase case_;
};

bool fits(const RandomBase& base, const RandomCase& random) {
  try {
    input_of(base, random);
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

}  // namespace

RandomCase random_case(const RandomBase& base, std::uint64_t seed, std::int64_t round, std::int64_t references) {
  RandomCase drawn = Mutation(base, seed, round).draw(references);
  if (fits(base, drawn)) return drawn;
  RandomCase fitting = drawn;
  fitting.settings.clear();
  for (int group = kShape; group <= kWorkload; ++group) {
    RandomCase more = fitting;
    for (const CaseSetting& setting : drawn.settings) {
      if (setting.group == group) more.settings.push_back(setting);
    }
    if (fits(base, more)) fitting = std::move(more);
  }
  fitting.operations = std::max<std::int64_t>(1, references / cpus_of(base, fitting));
  return fitting;
}

}  // namespace linebounce::sim
