// The cost of a line that several CPUs want at once, and of issue slots that sibling threads take from each other. These are
// the measurements of linebounce-probe in which a CPU waits.
//
// The measurements run one after the other, each on lines of its own. CPUs without a part in a measurement sleep, because a
// waiting loop would take issue slots from siblings. The last CPU to end a measurement wakes the CPUs of the next one.
#include "workloads/micro/contended_line.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "models/text/trimmed.hpp"
#include "models/text/whole_number.hpp"
#include "workloads/program/random.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

// Before its measured access, a CPU waits until all traffic is over, then for a random number of cycles below kPhases. So the
// access begins at every phase of the slower clocks.
constexpr std::int64_t kSettleCycles = 2000;
constexpr std::uint64_t kPhases = 256;
constexpr std::int64_t kComputeCycles = 1000;  // length of one operation of a thread whose sibling runs something else
constexpr std::uint64_t kLatestStart = 1000;   // in cycles: CPUs start at different times
// Time from the end of a measurement to the start of the next, besides the time to wake its CPUs.
constexpr double kStartNs = 1000;
constexpr double kWarmShare = 0.1;  // the share of a window that is not counted

enum MeasuredOperation {
  kModifiedLoad,
  kSharedStore,
  kFetchAdd,
  kStore,
  kIncrement,
  kAlone,
  kBesideComputing,
  kBesideSpinning,
  kBesidePausing,
  kOperationCount
};
constexpr std::array<std::string_view, kOperationCount> kOperationNames = {
    "modified_load", "shared_store",     "fetch_add",       "store",         "increment",
    "alone",         "beside_computing", "beside_spinning", "beside_pausing"};

struct ContendedLineOptions {
  std::string measurements = "shared_store: all; fetch_add: all; store: all; increment: all";
  double window_us = 50;

  void bind(ParameterBinder& parameters) {
    parameters.text(
        "measurements", measurements,
        "OPERATION: CPUS, or OPERATION CYCLES: CPUS with so many cycles computed between two operations; separated by \";\". "
        "CPUs are numbers, \"0 2\", or \"all\"; the line is at home with the first. fetch_add, store: each adds to a word of "
        "its own on the line, atomically or by a load and a store; increment: of one word, by compare-and-exchange until it "
        "succeeds; shared_store: the first adds atomically to a line that it and all others have read; "
        "modified_load: the first loads a line that the second has written; alone, "
        "beside_computing, beside_spinning, beside_pausing: the first computes, and the second does that");
    parameters.number("window_us", window_us, 1, 1e6,
                      "how long each is measured; shared_store and modified_load: 4 to 16 times");
  }
};

struct Measurement {
  MeasuredOperation operation = kFetchAdd;
  std::int64_t between_cycles = 0;
  std::vector<int> cpus;
  Address lines = 0;  // one line for each round of a shared_store or modified_load
  Address turn = 0;
  int rounds = 1;
  double start_ns = 0;
  std::size_t ended = 0;  // CPUs
  std::int64_t done = 0, failed = 0;
  double ns = 0;  // sum over all operations
};

// The CPU's own node if it has memory, else another one.
int node_of_memory(const MachineLayout& layout, int cpu) {
  const int own = layout.cpus[cpu].node;
  const std::vector<int>& nodes = layout.nodes_with_memory;
  return std::ranges::binary_search(nodes, own) ? own : nodes.front();
}

class MeasurementReader {
 public:
  explicit MeasurementReader(int cpus) : cpus_(cpus) {}

  [[nodiscard]] std::vector<Measurement> read(const std::string& text) {
    std::vector<Measurement> all;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ';');) {
      part_ = trimmed(part);
      if (!part_.empty()) all.push_back(one());
    }
    if (all.empty()) throw std::invalid_argument("workload.measurements: none is named");
    return all;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw std::invalid_argument(fmt::format("workload.measurements: \"{}\": {}", part_, what));
  }

  [[nodiscard]] Measurement one() const {
    const std::size_t colon = part_.find(':');
    if (colon == std::string::npos) refuse("expected OPERATION: CPUS");
    Measurement measurement;
    std::istringstream head(part_.substr(0, colon));
    std::string name;
    std::string cycles;
    std::string more;
    head >> name >> cycles >> more;
    const auto found = std::ranges::find(kOperationNames, name);
    if (found == kOperationNames.end() || !more.empty()) {
      refuse(fmt::format("'{}' is not an operation; legal: {}", name, fmt::join(kOperationNames, ", ")));
    }
    measurement.operation = static_cast<MeasuredOperation>(found - kOperationNames.begin());
    if (!cycles.empty()) {
      const auto number = whole_number(cycles, 0, kMostBetweenCycles);
      if (!number) refuse(fmt::format("'{}' is not a number of cycles; legal: 0 to {}", cycles, kMostBetweenCycles));
      measurement.between_cycles = *number;
    }
    measurement.cpus = participants(part_.substr(colon + 1));
    if (std::ssize(measurement.cpus) < least_cpus(name)) refuse(fmt::format("expected {} CPUs or more", least_cpus(name)));
    if (measurement.operation <= kSharedStore)
      measurement.rounds = std::clamp(64 / static_cast<int>(measurement.cpus.size()), 4, 16);
    return measurement;
  }

  [[nodiscard]] std::vector<int> participants(const std::string& text) const {
    std::vector<int> numbers;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      if (word == "all" && numbers.empty()) {
        numbers.resize(cpus_);
        std::iota(numbers.begin(), numbers.end(), 0);
        continue;
      }
      const auto number = whole_number(word, 0, cpus_ - 1);
      if (!number || std::ranges::find(numbers, static_cast<int>(*number)) != numbers.end()) {
        refuse(fmt::format("'{}' is not a CPU of this machine, or is named twice; legal: all, or numbers from 0 to {}", word,
                           cpus_ - 1));
      }
      numbers.push_back(static_cast<int>(*number));
    }
    return numbers;
  }

  int cpus_;
  std::string part_;
};

class ContendedLine final : public Workload {
 public:
  explicit ContendedLine(const Parameters& parameters) : options_(read_options<ContendedLineOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override;
  void run(Cpu& cpu) override;
  [[nodiscard]] bool ends() const override { return true; }
  void report(const RunFacts& facts, MetricSink& metrics) const override;

 private:
  void take_part(Cpu& cpu, Measurement& measurement, std::size_t member);
  void hand_over(Cpu& cpu, Measurement& measurement, std::size_t member);
  void contend(Cpu& cpu, Measurement& measurement, std::size_t member) const;
  [[nodiscard]] static int increment(Cpu& cpu, Address word);
  void compute_beside(Cpu& cpu, Measurement& measurement, std::size_t member) const;
  void wait_for_start(Cpu& cpu, double start_ns) const;
  [[nodiscard]] double window_ns() const { return options_.window_us * 1000; }
  [[nodiscard]] double counted_from(const Measurement& measurement) const {
    return measurement.start_ns + kWarmShare * window_ns();
  }
  [[nodiscard]] double counted_to(const Measurement& measurement) const { return counted_from(measurement) + window_ns(); }

  ContendedLineOptions options_;
  std::uint64_t seed_ = 0;
  std::vector<Measurement> measurements_;
  std::size_t words_ = 0;  // words in a line
  int line_bytes_ = 0;
  double cycle_ns_ = 0;
  double wake_ns_ = 0;
};

void ContendedLine::set_up(const WorkloadSetup& setting) {
  seed_ = setting.seed;
  line_bytes_ = setting.memory.line_bytes();
  words_ = static_cast<std::size_t>(line_bytes_) / sizeof(Value);
  const Frequency clock = setting.machine.cpu.clock;
  cycle_ns_ = 1000.0 * static_cast<double>(clock.denominator) / static_cast<double>(clock.numerator_mhz);
  wake_ns_ = setting.machine.cpu.ipi_latency_ns + kStartNs;
  measurements_ = MeasurementReader(setting.machine.cpus).read(options_.measurements);
  for (std::size_t i = 0; i < measurements_.size(); ++i) {
    Measurement& measurement = measurements_[i];
    const Home home = Home::on(node_of_memory(setting.layout, measurement.cpus.front()));
    const std::string name = fmt::format("[{}]", i);
    measurement.lines =
        setting.memory.place_array("line" + name, static_cast<std::int64_t>(measurement.rounds) * line_bytes_, home);
    const Layout turn{.name = "turn", .size = line_bytes_, .alignment = line_bytes_, .fields = {{"member", 0}}};
    measurement.turn = setting.memory.place(turn, "turn" + name, 0, home);
  }
}

void ContendedLine::run(Cpu& cpu) {
  for (std::size_t i = 0; i < measurements_.size(); ++i) {
    Measurement& measurement = measurements_[i];
    const auto found = std::ranges::find(measurement.cpus, cpu.id().value);
    if (found == measurement.cpus.end()) continue;
    if (i > 0) cpu.sleep();
    wait_for_start(cpu, measurement.start_ns);
    take_part(cpu, measurement, found - measurement.cpus.begin());
    const double now = cpu.now_ns();
    if (++measurement.ended < measurement.cpus.size() || i + 1 == measurements_.size()) continue;
    Measurement& next = measurements_[i + 1];
    next.start_ns = now + wake_ns_;
    for (const int other : next.cpus) cpu.wake(CpuId{other});
  }
}

void ContendedLine::wait_for_start(Cpu& cpu, double start_ns) const {
  const double left = start_ns - cpu.now_ns();
  if (left > 0) cpu.compute(static_cast<std::int64_t>(left / cycle_ns_));
}

void ContendedLine::take_part(Cpu& cpu, Measurement& measurement, std::size_t member) {
  if (measurement.operation <= kSharedStore) return hand_over(cpu, measurement, member);
  if (measurement.operation >= kAlone) return compute_beside(cpu, measurement, member);
  contend(cpu, measurement, member);
}

// Puts the line into the state that the measurement starts from. The other CPUs read the line in turn, or one of them writes
// it. The first CPU comes last: if it is to share the line, it reads it, and becomes the forwarder on machines that have one.
void ContendedLine::hand_over(Cpu& cpu, Measurement& measurement, std::size_t member) {
  Random random(seed_, static_cast<std::uint64_t>(cpu.id().value), 0);
  const std::size_t members = measurement.cpus.size();
  const bool shared = measurement.operation == kSharedStore;
  for (int round = 0; round < measurement.rounds; ++round) {
    const Address line = measurement.lines + static_cast<Address>(round * line_bytes_);
    const Value mine = static_cast<Value>(round) * members + (member > 0 ? member - 1 : members - 1);
    cpu.spin_until_acquire(measurement.turn, [mine](Value now) { return now == mine; });
    if (shared) {
      cpu.load(line);
    } else if (member > 0) {
      cpu.store(line, 1);
      cpu.fence();
    }
    if (member == 0) {
      cpu.compute(kSettleCycles + static_cast<std::int64_t>(random.below(kPhases)));
      const double begin = cpu.now_ns();
      shared ? cpu.fetch_add(line, 1) : cpu.load(line);
      measurement.ns += cpu.now_ns() - begin;
      ++measurement.done;
    }
    cpu.store_release(measurement.turn, mine + 1);
  }
}

void ContendedLine::contend(Cpu& cpu, Measurement& measurement, std::size_t member) const {
  Random random(seed_, static_cast<std::uint64_t>(cpu.id().value), 0);
  const Address mine = measurement.lines + static_cast<Address>(member % words_ * sizeof(Value));
  cpu.compute(1 + static_cast<std::int64_t>(random.below(kLatestStart)));
  std::int64_t done = 0;
  std::int64_t failed = 0;
  const auto add = [&] {
    switch (measurement.operation) {
      case kFetchAdd: cpu.fetch_add(mine, 1); return 0;
      case kStore: cpu.store(mine, cpu.load(mine) + 1); return 0;
      default: return increment(cpu, measurement.lines);
    }
  };
  for (double now = 0; now < counted_to(measurement);) {
    const int fails = add();
    now = cpu.to_ns(cpu.local_time());
    if (now >= counted_from(measurement) && now < counted_to(measurement)) ++done, failed += fails;
    if (measurement.between_cycles > 0) cpu.compute(measurement.between_cycles);
  }
  measurement.done += done;
  measurement.failed += failed;
  measurement.ns = window_ns();
}

// Adds 1 with compare-exchanges. Returns how many of them failed.
int ContendedLine::increment(Cpu& cpu, Address word) {
  Value expected = cpu.load(word);
  for (int failed = 0;; ++failed) {
    const Value found = cpu.compare_exchange(word, expected, expected + 1);
    if (found == expected) return failed;
    expected = found;
  }
}

void ContendedLine::compute_beside(Cpu& cpu, Measurement& measurement, std::size_t member) const {
  if (member == 1 && (measurement.operation == kBesideSpinning || measurement.operation == kBesidePausing)) {
    const auto loop = measurement.operation == kBesideSpinning ? Cpu::Loop::tight : Cpu::Loop::pauses;
    cpu.spin_until(
        measurement.turn, [](Value over) { return over != 0; }, 8, loop);
    return;
  }
  const auto now = [&cpu] { return cpu.to_ns(cpu.local_time()); };
  while (now() < counted_from(measurement)) cpu.compute(kComputeCycles);
  const double begin = now();
  std::int64_t done = 0;
  for (; now() < counted_to(measurement); ++done) cpu.compute(kComputeCycles);
  if (member > 0) return;
  measurement.done = done;
  measurement.ns = now() - begin;
  cpu.store_release(measurement.turn, 1);
}

void ContendedLine::report(const RunFacts&, MetricSink& metrics) const {
  const MetricFamily times =
      metrics.family("contended_line.<i>.ns", "ns", kLower,
                     "measurement i of `measurements`: from one operation to the next, of all its CPUs together; shared_store, "
                     "modified_load: of it alone; beside siblings: for 1000 cycles of computing");
  const MetricFamily fails = metrics.family("contended_line.<i>.fails", "", kLower,
                                            "compare-and-exchanges of measurement i that failed, for each that did not");
  for (std::size_t i = 0; i < measurements_.size(); ++i) {
    const Measurement& measurement = measurements_[i];
    if (measurement.done == 0) continue;  // the run ended before this measurement was complete
    const auto done = static_cast<double>(measurement.done);
    times.add({std::to_string(i)}, measurement.ns / done);
    if (measurement.operation == kIncrement) fails.add({std::to_string(i)}, static_cast<double>(measurement.failed) / done);
  }
}

}  // namespace

std::vector<std::string> contended_operations() {
  return {kOperationNames.begin(), kOperationNames.end()};
}

int least_cpus(std::string_view operation) {
  const auto found = std::ranges::find(kOperationNames, operation) - kOperationNames.begin();
  return found <= kSharedStore || found > kAlone ? 2 : 1;
}

WorkloadEntry contended_line_workload() {
  return {"contended_line", "What one line costs when several CPUs want it, and what sibling threads take from each other",
          declare<ContendedLineOptions>(), make_workload<ContendedLine>};
}

}  // namespace linebounce::workloads
