// The cost of one operation, measured as a kernel programmer would: by loops between two readings of the clock.
//
// Rows of one CPU: the loop's time / repetitions, on lines that no other CPU uses. Rows of several: `contenders` CPUs run the
// loop freely on one line for a window of time; cost = window / increments that all of them completed in it.
// configs/experiments/operation_costs.toml has the definitions, with their reasons.
#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>

#include "workloads/program/barrier.hpp"
#include "workloads/program/random.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kLoopCycles = 2;  // the decrement and the taken branch of a loop, in addition to its body

enum Row { kInstruction, kClockCycle, kL2Hit, kAtomic, kCompareExchange, kMainMemory, kLocalLock, kSoloRows };
enum SharedRow { kAtomicTransfer, kBlindTransfer, kTransferInvalidate, kSharedRows };

constexpr std::array<const char*, kSoloRows> kSoloNames = {
    "instruction", "clock_cycle", "l2_hit", "atomic_increment", "cmpxchg_atomic_increment", "main_memory", "cpu_local_lock"};
constexpr std::array<const char*, kSharedRows> kSharedNames = {
    "atomic_increment_cache_transfer", "cmpxchg_blind_cache_transfer", "cmpxchg_cache_transfer_and_invalidate"};

struct OperationCostsOptions {
  std::int64_t repetitions = 20000;
  int contenders = 2;
  int phases = 16;
  double window_us = 50;

  void bind(ParameterBinder& parameters) {
    parameters.number("repetitions", repetitions, 1, 1e9, "of each loop on one CPU");
    parameters.number("contenders", contenders, 1, 64, "CPUs on the shared line");
    parameters.number("phases", phases, 1, 1e6, "windows of a shared row, each with other starting times");
    parameters.number("window_us", window_us, 1, 1e6, "length of a window");
  }
};

class OperationCosts final : public Workload {
 public:
  explicit OperationCosts(const Parameters& parameters) : options_(read_options<OperationCostsOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override;
  void run(Cpu& cpu) override;
  [[nodiscard]] bool ends() const override { return true; }
  void report(const RunFacts& facts, MetricSink& metrics) const override;

 private:
  // A ring of lines in which each word holds the address of the next.
  struct Chain {
    Address first = 0;
    std::int64_t lines = 0;
  };
  Chain make_chain(AddressSpace& memory, const std::string& name, std::int64_t bytes) const;

  void run_solo(Cpu& cpu);
  double chase(Cpu& cpu, const Chain& chain) const;
  template <class Body>
  double timed(Cpu& cpu, Body body) const;
  void run_shared(Cpu& cpu, SharedRow row);
  template <class Body>
  std::int64_t count_in_window(Cpu& cpu, double begin_ns, Body body) const;
  std::int64_t contend(Cpu& cpu, SharedRow row, double begin_ns) const;

  OperationCostsOptions options_;
  int shared_rows_ = 0;
  std::uint64_t seed_ = 0;
  Chain in_l2_, in_memory_;
  Address private_word_ = 0;
  Address shared_word_ = 0;
  Barrier barrier_;
  std::array<std::optional<double>, kSoloRows> solo_ns_{};
  std::array<std::int64_t, kSharedRows> completed_{};
  std::array<std::int64_t, kSharedRows> windows_{};  // summed over all CPUs
};

void OperationCosts::set_up(const WorkloadSetup& setting) {
  const auto& caches = setting.machine.caches;
  if (caches.size() < 2)
    throw std::invalid_argument("workload operation_costs needs a machine with at least two levels of cache");
  // Leaves out the rows that need more CPUs than there are.
  shared_rows_ = options_.contenders <= setting.machine.cpus ? kSharedRows : 0;
  seed_ = setting.seed;
  AddressSpace& memory = setting.memory;
  in_l2_ = make_chain(memory, "l2_chain", std::min(4 * caches[0].size_kib, caches[1].size_kib / 2) * std::int64_t{1024});
  in_memory_ = make_chain(memory, "memory_chain", 2 * caches.back().size_kib * std::int64_t{1024});
  const int line = memory.line_bytes();
  const Layout counter{.name = "counter", .size = line, .alignment = line, .fields = {{"value", 0}}};
  private_word_ = memory.place(counter, "private_counter");
  shared_word_ = memory.place(counter, "shared_counter");
  barrier_ = Barrier(memory, "start", options_.contenders);
}

OperationCosts::Chain OperationCosts::make_chain(AddressSpace& memory, const std::string& name, std::int64_t bytes) const {
  const auto line = static_cast<Address>(memory.line_bytes());
  const Chain chain{memory.place_array(name, bytes), bytes / memory.line_bytes()};
  for (std::int64_t i = 0; i < chain.lines; ++i) {
    const auto next = static_cast<Address>((i + 1) % chain.lines);
    memory.preset(chain.first + static_cast<Address>(i) * line, chain.first + next * line);
  }
  return chain;
}

void OperationCosts::run(Cpu& cpu) {
  const int me = cpu.id().value;
  if (me >= options_.contenders) return;
  if (me == 0) run_solo(cpu);
  for (int row = 0; row < shared_rows_; ++row) run_shared(cpu, static_cast<SharedRow>(row));
}

void OperationCosts::run_solo(Cpu& cpu) {
  const Address word = private_word_;
  cpu.fetch_add(word, 1);  // from now on the CPU owns the line
  solo_ns_[kInstruction] = timed(cpu, [&] { cpu.execute(1); });
  solo_ns_[kClockCycle] = timed(cpu, [&] { cpu.compute(1); });
  solo_ns_[kAtomic] = timed(cpu, [&] {
    cpu.fetch_add(word, 1);
    cpu.compute(kLoopCycles);
  });
  solo_ns_[kCompareExchange] = timed(cpu, [&] {
    const Value old = cpu.load(word);
    cpu.compute(1);  // add
    cpu.compare_exchange(word, old, old + 1);
    cpu.compute(kLoopCycles);
  });
  cpu.store(word, 0);
  solo_ns_[kLocalLock] = timed(cpu, [&] {
    cpu.compare_exchange(word, 0, 1);
    cpu.exchange(word, 0);
    cpu.compute(kLoopCycles);
  });
  solo_ns_[kL2Hit] = chase(cpu, in_l2_);
  solo_ns_[kMainMemory] = chase(cpu, in_memory_);
}

// The time of one repetition in ns.
template <class Body>
double OperationCosts::timed(Cpu& cpu, Body body) const {
  const double begin = cpu.now_ns();
  for (std::int64_t i = 0; i < options_.repetitions; ++i) body();
  const double end = cpu.now_ns();
  return (end - begin) / static_cast<double>(options_.repetitions);
}

// Each load's address is the value of the previous one. The first round warms up; the ring is larger than the nearer caches.
double OperationCosts::chase(Cpu& cpu, const Chain& chain) const {
  Address at = chain.first;
  for (std::int64_t i = 0; i < chain.lines; ++i) at = cpu.load(at);
  return timed(cpu, [&] { at = cpu.load(at); });
}

void OperationCosts::run_shared(Cpu& cpu, SharedRow row) {
  const int me = cpu.id().value;
  Random random(seed_, static_cast<std::uint64_t>(me), static_cast<std::uint64_t>(row));
  for (int phase = 0; phase < options_.phases; ++phase) {
    barrier_.wait(cpu);
    const std::uint64_t delay = random.below(1000);
    cpu.compute(static_cast<std::int64_t>(delay));
    const double started = cpu.now_ns();
    completed_[row] += contend(cpu, row, started + 2000);  // all CPUs start at this time, when each is in its loop
    ++windows_[row];
  }
}

// Runs the row's loop until the window [begin, begin + window) is over. Returns how many increments were completed in it.
std::int64_t OperationCosts::contend(Cpu& cpu, SharedRow row, double begin_ns) const {
  const Address word = shared_word_;
  switch (row) {
    case kAtomicTransfer:
      return count_in_window(cpu, begin_ns, [&] {
        cpu.fetch_add(word, 1);
        return true;
      });
    case kBlindTransfer:
      return count_in_window(cpu, begin_ns, [&] {
        cpu.compare_exchange(word, 0, 1);
        return true;
      });
    default: break;
  }
  Value old = cpu.load(word);
  return count_in_window(cpu, begin_ns, [&] {
    cpu.compute(1);  // add
    const Value found = cpu.compare_exchange(word, old, old + 1);
    const bool done = found == old;
    old = cpu.load(word);  // the value that the next attempt expects
    return done;
  });
}

template <class Body>
std::int64_t OperationCosts::count_in_window(Cpu& cpu, double begin_ns, Body body) const {
  std::int64_t completed = 0;
  for (;;) {
    const bool done = body();
    const double now = cpu.now_ns();
    // The window begins and ends in the middle of some operation. It is half open, so that an operation is counted in one
    // window only.
    if (now >= begin_ns + options_.window_us * 1000) return completed;
    if (now >= begin_ns && done) ++completed;
    cpu.compute(kLoopCycles);
  }
}

void OperationCosts::report(const RunFacts&, MetricSink& metrics) const {
  const MetricFamily costs =
      metrics.family("cost.<operation>", "ns", kLower, "`configs/experiments/operation_costs.toml` defines each");
  for (std::size_t row = 0; row < kSoloRows; ++row) {
    if (solo_ns_[row]) costs.add({kSoloNames[row]}, *solo_ns_[row]);
  }
  for (int row = 0; row < shared_rows_; ++row) {
    const double elapsed = options_.window_us * 1000 * (static_cast<double>(windows_[row]) / options_.contenders);
    if (completed_[row] > 0) costs.add({kSharedNames[row]}, elapsed / static_cast<double>(completed_[row]));
  }
}

}  // namespace

WorkloadEntry operation_costs_workload() {
  return {"operation_costs",
          "What instructions, cache hits, atomic operations and transfers of a line cost",
          declare<OperationCostsOptions>(),
          make_workload<OperationCosts>,
          {{"cost.atomic_increment", "atomic add"},
           {"cost.atomic_increment_cache_transfer", "with transfer"},
           {"cost.main_memory", "memory"}}};
}

}  // namespace linebounce::workloads
