// The cost of a load on which the next load depends. Rings of lines that fit one cache level but not the nearer ones measure
// that level; rings of lines that no cache has seen measure each node's memory.
//
// One CPU works, all others are idle. linebounce-probe measures the same on a real machine.
#include <fmt/format.h>

#include <numeric>
#include <sstream>
#include <stdexcept>

#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr std::int64_t kKib = 1024;
constexpr std::int64_t kMostRingKib = 1 << 20;

struct LoadToUseOptions {
  std::string rings_kib;
  std::int64_t memory_lines = 1000;

  void bind(ParameterBinder& parameters) {
    parameters.text("rings_kib", rings_kib,
                    "sizes of the rings, \"16 96 1536\"; empty: half of the nearest cache, and three times each cache for the "
                    "next level");
    parameters.number("memory_lines", memory_lines, 8, 1e6, "lines of each node's memory that are loaded");
  }
};

class LoadToUse final : public Workload {
 public:
  explicit LoadToUse(const Parameters& parameters) : options_(read_options<LoadToUseOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override {
    AddressSpace& memory = setting.memory;
    const auto line = memory.line_bytes();
    for (const std::int64_t kib : sizes(setting.machine)) {
      const std::int64_t lines = kib * kKib / line;
      if (lines < 2) throw std::invalid_argument("workload.rings_kib: a ring has at least two lines");
      rings_.push_back({fmt::format("ring_of_{}_kib", kib), make_ring(memory, fmt::format("ring[{}]", rings_.size()), lines, 0),
                        lines, true});
    }
    for (const int node : setting.layout.nodes_with_memory) {
      const std::int64_t lines = options_.memory_lines;
      rings_.push_back(
          {fmt::format("memory_of_node_{}", node), make_ring(memory, fmt::format("cold_lines[{}]", node), lines, node), lines});
    }
  }

  void run(Cpu& cpu) override {
    if (cpu.id().value != 0) return;
    for (Ring& ring : rings_) {
      Address at = ring.first;
      if (ring.warm) at = follow(cpu, at, ring.lines);
      const double begin = cpu.now_ns();
      follow(cpu, at, ring.lines);
      const double end = cpu.now_ns();
      ring.ns = (end - begin) / static_cast<double>(ring.lines);
    }
  }

  [[nodiscard]] bool ends() const override { return true; }

  void report(const RunFacts&, MetricSink& metrics) const override {
    const MetricFamily places =
        metrics.family("load_to_use.<place>", "ns", kLower,
                       "a load that the next one waits for, from a ring of so many KiB or from a node's memory");
    for (const Ring& ring : rings_) {
      if (ring.ns > 0) places.add({ring.name}, ring.ns);  // else the run ended before this measurement was complete
    }
  }

 private:
  struct Ring {
    std::string name;
    Address first = 0;
    std::int64_t lines = 0;
    bool warm = false;
    double ns = 0;
  };

  [[nodiscard]] std::vector<std::int64_t> sizes(const MachineSpec& machine) const {
    std::vector<std::int64_t> kib;
    if (options_.rings_kib.empty()) {
      kib.push_back(std::max(1, machine.caches.front().size_kib / 2));
      for (std::size_t level = 0; level < machine.caches.size(); ++level) {
        const bool next_is_there = level + 1 < machine.caches.size() || machine.node.cache_size_kib > 0;
        if (next_is_there) kib.push_back(3 * std::int64_t{machine.caches[level].size_kib});
      }
      return kib;
    }
    std::istringstream words(options_.rings_kib);
    for (std::int64_t size = 0; words >> size;) {
      if (size < 1 || size > kMostRingKib) break;
      kib.push_back(size);
    }
    if (!words.eof()) {
      throw std::invalid_argument(
          fmt::format("workload.rings_kib: \"{}\": expected sizes in KiB, 1 to {}", options_.rings_kib, kMostRingKib));
    }
    return kib;
  }

  // Makes a ring in which neighbours are far apart, so that no memory bank answers twice in a row.
  static Address make_ring(AddressSpace& memory, const std::string& name, std::int64_t lines, int node) {
    const std::int64_t line = memory.line_bytes();
    const Address first = memory.place_array(name, lines * line, Home::on(node));
    std::int64_t step = lines * 5 / 8 + 1;
    while (std::gcd(step, lines) != 1) ++step;
    for (std::int64_t i = 0; i < lines; ++i) {
      const auto next = static_cast<Address>((i + step) % lines * line);
      memory.preset(first + static_cast<Address>(i * line), first + next);
    }
    return first;
  }

  static Address follow(Cpu& cpu, Address at, std::int64_t loads) {
    for (std::int64_t i = 0; i < loads; ++i) at = cpu.load(at);
    return at;
  }

  LoadToUseOptions options_;
  std::vector<Ring> rings_;
};

}  // namespace

WorkloadEntry load_to_use_workload() {
  return {"load_to_use", "What a dependent load costs, from each cache and each node's memory", declare<LoadToUseOptions>(),
          make_workload<LoadToUse>};
}

}  // namespace linebounce::workloads
