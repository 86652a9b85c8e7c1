#include "commands/calibrate/own_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "commands/calibrate/placed_caches.hpp"
#include "commands/calibrate/simulated_apart.hpp"
#include "models/machine_layout.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kSharedLatency = "machine.node.cache_latency_ns";
constexpr const char* kMemoryLatency = "machine.memory.latency_ns";
constexpr double kNsStep = 0.1;
constexpr double kReached = 0.3;  // in ns; a smaller difference from the measurement counts as none

// The bus clocks that a load from the cache behind the bus waits for, each with its smallest value. Those that occur most
// often in a transaction come first. Leaves out the intervention, which the matrix determines.
const std::vector<std::pair<std::string, double>>& bus_clocks() {
  static const std::vector<std::pair<std::string, double>> kPaths = {{"machine.bus.snoop_clocks", 1},
                                                                     {"machine.bus.latch_clocks", 0},
                                                                     {"machine.bus.arbitration_clocks", 0},
                                                                     {"machine.bus.response_clocks", 0}};
  return kPaths;
}

double to_step(double ns) {
  return std::round(ns / kNsStep) * kNsStep;
}

}  // namespace

OwnCosts::OwnCosts(const ProbeFile& probe, MachineTables& machine, std::string source)
    : probe_(probe), machine_(machine, std::move(source)) {}

void OwnCosts::set_directly(bool keep_structure) {
  if (probe_.clock_mhz > 0) machine_.set("machine.cpu.clock_mhz", std::round(probe_.clock_mhz));
  set_caches(keep_structure);
  if (!keep_structure) choose_protocol();
  set_operations();
  set_bandwidth();
  lower_bus_clocks();
}

void OwnCosts::set_caches(bool keep_structure) {
  if (probe_.caches.empty()) {
    notes_.push_back("The file has no caches, for the system showed none: sizes and latencies are assumptions.");
    return;
  }
  const PlacedCaches placed = place_caches(machine_, probe_.caches, keep_structure);
  notes_.insert(notes_.end(), placed.notes.begin(), placed.notes.end());
  shared_ = placed.shared;
  for (const auto& [table, cache] : placed.own) {
    const ProbedRing* ring = ring_of(*cache);
    if (ring == nullptr) continue;
    const std::string path = table + "hit_latency_cycles";
    machine_.set(path, std::max(1.0, std::round(ring->ns.median * machine_.number("machine.cpu.clock_mhz") / 1000)));
    fitted_.push_back({fmt::format("load, L{}", cache->level), "ns", ring->ns,
                       machine_.number(path) * 1000 / machine_.number("machine.cpu.clock_mhz")});
  }
}

// Chooses MESIF if reading a clean line of another CPU of the node takes about as long as reading a modified one, and longer
// than a load from the shared cache. The cache with the line then answers, in state Forward.
void OwnCosts::choose_protocol() {
  const auto mean_of = [this](const char* state) {
    std::vector<Quartiles> found;
    for (const ProbedHandOff& hand_off : probe_.hand_offs) {
      const bool one_node = probe_.node[hand_off.from] == probe_.node[hand_off.to];
      if (one_node && hand_off.state == state && hand_off.access == "load" && hand_off.ns.repeats > 0)
        found.push_back(hand_off.ns);
    }
    return mean_quartiles(found);
  };
  const Quartiles clean = mean_of("exclusive");
  const Quartiles written = mean_of("modified");
  if (shared_ == nullptr || ring_of(*shared_) == nullptr || clean.repeats == 0 || written.repeats == 0) return;
  const double cache = ring_of(*shared_)->ns.median;
  if (written.median <= cache || clean.median < (cache + written.median) / 2) return;
  for (const auto& [path, mesi, mesif] : {std::tuple{"machine.bus.protocol", "mesi_snoop", "mesif_snoop"},
                                          {"machine.node.protocol", "mesi_node", "mesif_node"},
                                          {"machine.directory.protocol", "mesi_directory", "mesif_directory"}}) {
    if (machine_.tables().settings.at(path).value != ConfigValue{std::string(mesi)}) return;
    machine_.set(path, std::string(mesif));
  }
  notes_.push_back(
      fmt::format("A clean exclusive line of another CPU takes {:.1f} ns to read, a modified one {:.1f}, the shared "
                  "cache {:.1f}: its holder answers, so the protocol is MESIF.",
                  clean.median, written.median, cache));
}

void OwnCosts::set_operations() {
  static const std::vector<std::tuple<std::string, std::string, std::string>> kOperations = {
      {"fetch_add", "atomic addition", "machine.cpu.atomic_latency_cycles"},
      {"compare_exchange", "compare and exchange", "machine.cpu.compare_exchange_latency_cycles"},
      {"fence", "fence", "machine.cpu.fence_latency_cycles"}};
  const double ghz = machine_.number("machine.cpu.clock_mhz") / 1000;
  for (const auto& [operation, what, path] : kOperations) {
    const auto found = probe_.atomics.find(operation);
    if (found == probe_.atomics.end() || found->second.repeats == 0) continue;
    machine_.set(path, std::round(found->second.median * ghz));
    fitted_.push_back({what, "ns", found->second, machine_.number(path) / ghz});
  }
  const auto exchange = probe_.atomics.find("exchange");
  if (exchange == probe_.atomics.end() || exchange->second.repeats == 0) return;
  predictions_.push_back(
      {"exchange, line owned", "ns", exchange->second, machine_.number("machine.cpu.atomic_latency_cycles") / ghz});
}

// Sets the bandwidth of each node's memory: the total that the most CPUs reached, divided by the number of nodes with memory.
void OwnCosts::set_bandwidth() {
  const auto all = std::ranges::max_element(probe_.bandwidths, [](const auto& a, const auto& b) { return a.cpus < b.cpus; });
  if (all == probe_.bandwidths.end() || all->mb_per_s.repeats == 0 || all->mb_per_s.median <= 0) return;
  const auto nodes = static_cast<double>(lay_out(machine_.typed()).nodes_with_memory.size());
  const std::string path = "machine.memory.bandwidth_mb_per_s";
  machine_.set(path, std::round(all->mb_per_s.median / nodes));
  fitted_.push_back({fmt::format("reading memory, {} CPUs", all->cpus), "MB/s", all->mb_per_s, machine_.number(path) * nodes});
}

const ProbedRing* OwnCosts::ring_of(const ProbedCache& cache) const {
  const std::string name = fmt::format("L{}", cache.level);
  const auto ring = std::ranges::find_if(probe_.rings, [&name](const auto& each) { return each.level == name; });
  return ring != probe_.rings.end() && ring->ns.repeats > 0 ? &*ring : nullptr;
}

Quartiles OwnCosts::memory_cost(bool local) const {
  std::vector<Quartiles> found;
  for (const ProbedRing& ring : probe_.rings) {
    if (ring.level == "memory" && ring.ns.repeats > 0 && (ring.cpu_node == ring.memory_node) == local) found.push_back(ring.ns);
  }
  return mean_quartiles(found);
}

double OwnCosts::shared_cache_ns() const {
  return simulate_load_to_use(machine_.tables(), {ring_of(*shared_)->size_kib}).rings.front();
}

// Simulated latency of CPU 0's loads from memory, in ns: from its own node if `local`, else the mean over all other nodes.
double OwnCosts::memory_ns(bool local) const {
  const int own = lay_out(machine_.typed()).cpus.front().node;
  double sum = 0;
  int nodes = 0;
  for (const auto& [node, ns] : simulate_load_to_use(machine_.tables(), {1}).nodes) {
    if ((node == own) == local) sum += ns, ++nodes;
  }
  return nodes > 0 ? sum / nodes : 0;
}

// Removes bus clocks if a load from the shared cache takes longer than measured even with a cache latency of 0. Then protects
// the bus clocks from the fit to the matrix.
void OwnCosts::lower_bus_clocks() {
  if (shared_ == nullptr || ring_of(*shared_) == nullptr) return;
  const double measured = ring_of(*shared_)->ns.median;
  const double own = machine_.number(kSharedLatency);
  machine_.set(kSharedLatency, 0);
  double excess = shared_cache_ns() - measured;
  for (const auto& [path, least] : bus_clocks()) {
    if (excess > kReached) {
      const double clock_ns = 1000 / machine_.number("machine.bus.clock_mhz");
      machine_.set(path, std::max(least, machine_.number(path) - std::ceil(excess / clock_ns)));
      excess = shared_cache_ns() - measured;
    }
    machine_.keep(path);  // the fit to the matrix must not change it
  }
  machine_.keep("machine.cpu.fill_latency_cycles");
  machine_.set(kSharedLatency, own);
}

// Changes a latency until the simulated time is as measured. One step is not enough: the bus snoops during a look-up in the
// cache or memory, so a look-up shorter than the snoop does not lengthen the simulated time.
void OwnCosts::fit_way(const std::string& path, double measured, const std::function<double()>& simulated) {
  constexpr int kSteps = 8;
  for (int step = 0; step < kSteps; ++step) {
    const double before = machine_.number(path);
    machine_.set(path, to_step(std::max(0.0, before + measured - simulated())));
    if (std::fabs(machine_.number(path) - before) < kNsStep) return;
  }
}

void OwnCosts::fit_ways() {
  if (shared_ != nullptr && ring_of(*shared_) != nullptr) {
    const ProbedRing& ring = *ring_of(*shared_);
    fit_way(kSharedLatency, ring.ns.median, [this] { return shared_cache_ns(); });
    fitted_.push_back({fmt::format("L{}, load to use", shared_->level), "ns", ring.ns, shared_cache_ns()});
  }
  const Quartiles local = memory_cost(true);
  if (local.repeats == 0) return;
  fit_way(kMemoryLatency, local.median, [this] { return memory_ns(true); });
  fitted_.push_back({"local memory, load to use", "ns", local, memory_ns(true)});
}

void OwnCosts::predict(const std::vector<int>& cpu_of) {
  predict_memory();
  predict_hand_offs(cpu_of);
  predict_lock();
}

void OwnCosts::predict_memory() {
  const Quartiles remote = memory_cost(false);
  const std::set<int> nodes(probe_.node.begin(), probe_.node.end());
  const MachineSpec machine = machine_.typed();
  if (remote.repeats == 0) return;
  if (machine.nodes != std::ssize(nodes)) {
    notes_.push_back(fmt::format("The system has {} nodes, the machine {}: memory of another node is not compared.",
                                 nodes.size(), machine.nodes));
    return;
  }
  predictions_.push_back({"load, memory of another node", "ns", remote, memory_ns(false)});
}

// Compares hand-offs. Combines rows with the same state, access, distance and kind of home into one line, with means of the
// measured and of the simulated values over the same pairs.
void OwnCosts::predict_hand_offs(const std::vector<int>& cpu_of) {
  struct Line {
    std::vector<Quartiles> measured;
    double simulated = 0;
    bool chose = false;  // true if this measurement chose the protocol
  };
  const bool chosen = determined().contains("machine.bus.protocol");
  const MachineLayout layout = lay_out(machine_.typed());
  std::vector<int> machine_cpu(cpu_of.size());
  for (std::size_t cpu = 0; cpu < cpu_of.size(); ++cpu) machine_cpu[cpu_of[cpu]] = static_cast<int>(cpu);
  std::map<std::string, Line> lines;
  for (const auto& [access, word] : {std::pair("load", "load"), std::pair("fetch_add", "atomic")}) {
    const auto measured = [name = std::string(access)](const ProbedHandOff& hand_off) { return hand_off.access == name; };
    if (std::none_of(probe_.hand_offs.begin(), probe_.hand_offs.end(), measured)) continue;
    std::map<std::tuple<int, int, int, char>, double> simulated;
    for (const MatrixRow& row : simulate_hand_offs(machine_.tables(), word)) {
      simulated[{static_cast<int>(row.from_cpu), static_cast<int>(row.to_cpu), static_cast<int>(row.home_node), row.state[0]}] =
          row.latency_ns;
    }
    for (const ProbedHandOff& hand_off : probe_.hand_offs) {
      if (!measured(hand_off) || hand_off.ns.repeats == 0) continue;
      const std::size_t from = hand_off.from;
      const std::size_t to = hand_off.to;
      const int giver = layout.cpus[machine_cpu[from]].node;
      const int receiver = layout.cpus[machine_cpu[to]].node;
      const bool home_is_givers = hand_off.home_node == probe_.node[from];
      // Skips lines with their home on a third node; they are not simulated.
      if (!home_is_givers && hand_off.home_node != probe_.node[to]) continue;
      const char state = static_cast<char>(hand_off.state[0] - 'a' + 'A');
      const auto found = simulated.find({machine_cpu[from], machine_cpu[to], home_is_givers ? giver : receiver, state});
      if (found == simulated.end()) continue;
      const std::string where = giver == receiver ? "one node"
                                : home_is_givers  ? "other node, giver's home"
                                                  : "other node, receiver's home";
      Line& line = lines[fmt::format("{} of a line, {}, {}", hand_off.access, hand_off.state, where)];
      line.measured.push_back(hand_off.ns);
      line.simulated += found->second;
      line.chose = chosen && giver == receiver && hand_off.state == "exclusive" && hand_off.access == "load";
    }
  }
  for (const auto& [what, line] : lines) {
    std::vector<ComparedCost>& costs = line.chose ? fitted_ : predictions_;
    costs.push_back({what, "ns", mean_quartiles(line.measured), line.simulated / static_cast<double>(line.measured.size())});
  }
}

void OwnCosts::predict_lock() {
  const int cpus = machine_.typed().cpus;
  for (const ProbedLock& lock : probe_.locks) {
    if (lock.cpus != cpus || probe_.lock_kind != "ticket") continue;
    if (lock.ns.repeats == 0) {
      notes_.push_back("The lock could not be measured: the CPUs were never all there.");
      continue;
    }
    predictions_.push_back(
        {fmt::format("ticket lock, owner to owner, {} CPUs", cpus), "ns", lock.ns, simulate_lock(machine_.tables())});
  }
}

}  // namespace linebounce::sim
