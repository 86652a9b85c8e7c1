// The cost of a load on which the next load depends. Rings of lines that fit one cache level but not the nearer ones measure
// that level; rings of lines that no cache has seen measure each node's memory.
//
// One CPU works, all others are idle. linebounce-probe measures the same on a real machine. With a background, all others read
// their node's memory meanwhile, at a rate that they keep together; Intel's MLC measures that on a real machine.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
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
  double background_mb_per_s = 0;

  void bind(ParameterBinder& parameters) {
    parameters.text("rings_kib", rings_kib,
                    "sizes of the rings, \"16 96 1536\"; empty: half of the nearest cache, and three times each cache for the "
                    "next level, or with a background none");
    parameters.number("memory_lines", memory_lines, 8, 1e6, "lines of each node's memory that are loaded");
    parameters.number("background_mb_per_s", background_mb_per_s, 0, 1e8,
                      "how fast all other CPUs together read memory meanwhile; CPU 0 then loads its own node's memory alone");
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
    const int own_node = setting.layout.cpus.front().node;
    if (options_.background_mb_per_s > 0) set_up_background(setting);
    for (const int node : setting.layout.nodes_with_memory) {
      if (!streams_.empty() && node != own_node) continue;
      const std::int64_t lines = options_.memory_lines;
      rings_.push_back(
          {fmt::format("memory_of_node_{}", node), make_ring(memory, fmt::format("cold_lines[{}]", node), lines, node), lines});
    }
  }

  void run(Cpu& cpu) override {
    if (cpu.id().value != 0) {
      if (!streams_.empty()) stream(cpu, streams_[static_cast<std::size_t>(cpu.id().value) - 1]);
      return;
    }
    if (!streams_.empty()) cpu.compute(kBackgroundWarmUpCycles);
    for (Ring& ring : rings_) {
      Address at = ring.first;
      if (ring.warm) at = follow(cpu, at, ring.lines);
      const double begin = cpu.now_ns();
      follow(cpu, at, ring.lines);
      const double end = cpu.now_ns();
      ring.ns = (end - begin) / static_cast<double>(ring.lines);
    }
    if (!streams_.empty()) cpu.store(stop_, 1);
  }

  [[nodiscard]] bool ends() const override { return true; }

  void report(const RunFacts&, MetricSink& metrics) const override {
    const MetricFamily places =
        metrics.family("load_to_use.<place>", "ns", kLower,
                       "a load that the next one waits for, from a ring of so many KiB or from a node's memory");
    for (const Ring& ring : rings_) {
      if (ring.ns > 0) places.add({ring.name}, ring.ns);  // else the run ended before this measurement was complete
    }
    double bytes_per_ns = 0;
    for (const Stream& one : streams_) {
      if (one.end_ns > one.begin_ns) bytes_per_ns += static_cast<double>(one.loads * line_bytes_) / (one.end_ns - one.begin_ns);
    }
    constexpr double kMbPerSOfBytesPerNs = 1000;
    metrics.value("load_to_use.background_mb_per_s", "MB/s", kNeither, "how fast all other CPUs together read memory meanwhile",
                  bytes_per_ns > 0 ? std::optional(bytes_per_ns * kMbPerSOfBytesPerNs) : std::nullopt, kDetail);
  }

 private:
  struct Ring {
    std::string name;
    Address first = 0;
    std::int64_t lines = 0;
    bool warm = false;
    double ns = 0;
  };

  // What a CPU of the background reads: an array of its own, again and again. It is larger than the caches, so each line comes
  // from memory.
  struct Stream {
    Address first = 0;
    std::int64_t lines = 0;
    double interval_ns = 0;  // from one line to the next
    double phase_ns = 0;     // the first line's time
    std::int64_t loads = 0;
    double begin_ns = 0, end_ns = 0;
  };

  static constexpr std::int64_t kBackgroundWarmUpCycles = 20'000;
  // The most lines that a late stream reads at once. There are several times as many as a core has outstanding misses, so a
  // core seldom waits for the last few of them with nothing else to fetch.
  static constexpr std::int64_t kMostLinesAtOnce = 64;

  void set_up_background(const WorkloadSetup& setting) {
    const MachineSpec& machine = setting.machine;
    const Frequency& clock = machine.cpu.clock;
    cycles_per_ns_ = static_cast<double>(clock.numerator_mhz) / (1000.0 * static_cast<double>(clock.denominator));
    line_bytes_ = setting.memory.line_bytes();
    const auto others = static_cast<std::int64_t>(setting.layout.cpus.size()) - 1;
    if (others < 1) throw std::invalid_argument("workload.background_mb_per_s: needs a second CPU");
    // CPUs of a node share its cache, so together they read twice its size.
    const auto sharers = std::max<std::int64_t>(1, others / machine.nodes);
    std::int64_t cached_kib = 2 * std::int64_t{machine.node.cache_size_kib} / sharers;
    for (const CacheSpec& cache : machine.caches) cached_kib += 2 * std::int64_t{cache.size_kib};
    stop_ = setting.memory.place_array("stop", line_bytes_, Home::on(setting.layout.nodes_with_memory.front()));
    for (std::int64_t i = 1; i <= others; ++i) {
      const int node = setting.layout.cpus[static_cast<std::size_t>(i)].node;
      const auto& with_memory = setting.layout.nodes_with_memory;
      const bool has_memory = std::ranges::find(with_memory, node) != with_memory.end();
      Stream one;
      one.lines = cached_kib * kKib / line_bytes_;
      one.first = setting.memory.place_array(fmt::format("stream[{}]", i), one.lines * line_bytes_,
                                             Home::on(has_memory ? node : with_memory.front()));
      constexpr double kBytesPerNsOfMbPerS = 0.001;
      one.interval_ns = static_cast<double>(line_bytes_ * others) / (options_.background_mb_per_s * kBytesPerNsOfMbPerS);
      one.phase_ns = one.interval_ns * static_cast<double>(i) / static_cast<double>(others);
      streams_.push_back(one);
    }
  }

  // Reads the stream until CPU 0 has finished: all lines at once that have become due during the last read, as a core does
  // that looks ahead. A CPU that falls behind its rate by more lines than that does not catch up.
  void stream(Cpu& cpu, Stream& one) const {
    // The CPUs take turns, and each begins at another line, because those that start together would always read at the same
    // time, or from the same bank.
    cpu.compute(static_cast<std::int64_t>(one.phase_ns * cycles_per_ns_));
    one.begin_ns = cpu.now_ns();
    std::vector<Cpu::Word> words;
    std::vector<Value> values;
    double due_ns = one.begin_ns;
    while (cpu.load(stop_) == 0) {
      const double late_ns = cpu.now_ns() - due_ns;
      const auto early_cycles = static_cast<std::int64_t>(-late_ns * cycles_per_ns_);
      if (early_cycles > 0) cpu.compute(early_cycles);
      const auto more = static_cast<std::int64_t>(std::max(0.0, late_ns) / one.interval_ns);
      const std::int64_t lines = std::min(1 + more, kMostLinesAtOnce);
      words.clear();
      const std::int64_t next = cpu.id().value + one.loads;
      for (std::int64_t at = next; at < next + lines; ++at)
        words.push_back({.address = one.first + static_cast<Address>(at % one.lines * line_bytes_)});
      values.resize(words.size());
      cpu.load_all(words, values);
      one.loads += lines;
      one.end_ns = cpu.now_ns();
      due_ns = std::max(due_ns + static_cast<double>(lines) * one.interval_ns,
                        one.end_ns - static_cast<double>(kMostLinesAtOnce) * one.interval_ns);
    }
  }

  [[nodiscard]] std::vector<std::int64_t> sizes(const MachineSpec& machine) const {
    std::vector<std::int64_t> kib;
    if (options_.rings_kib.empty() && options_.background_mb_per_s > 0) return kib;
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
  std::vector<Stream> streams_;  // of CPU 1, 2, ...; empty: there is no background
  std::int64_t line_bytes_ = 0;
  double cycles_per_ns_ = 0;
  Address stop_ = 0;  // not 0 when CPU 0 has finished
};

}  // namespace

WorkloadEntry load_to_use_workload() {
  return {"load_to_use", "What a dependent load costs, from each cache and each node's memory", declare<LoadToUseOptions>(),
          make_workload<LoadToUse>};
}

}  // namespace linebounce::workloads
