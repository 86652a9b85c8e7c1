// Every CPU takes one lock, works on data that it protects, and computes outside: what does each lock cost?
//
// A writer adds 1 to the first word of every line, and a reader compares these words. Under a lock, a writer must find the
// number of writers before it, and a reader must find equal numbers; otherwise the run ends. Under `none`, lost updates and
// torn reads are counted. Either check costs no simulated time.
//
// Under a lock whose readers don't exclude writers (rcu), a writer publishes a copy.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "workloads/locks/exclusion_check.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/program/duration.hpp"
#include "workloads/program/interrupts.hpp"
#include "workloads/program/random.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/workload_entry.hpp"
#include "workloads/rcu/rcu.hpp"

namespace linebounce::workloads {
namespace {

// Data behind a pointer, for readers under RCU. A writer fills a private copy, publishes it, and returns the old one after a
// grace period. A separate lock excludes writers from each other.
class PublishedData {
 public:
  // Each copy has `lines` lines; the first word of each belongs to the caller.
  PublishedData(const WorkloadSetup& setting, std::int64_t lines, const RcuOptions& options);

  // Called at the beginning of each program.
  void start(Cpu& cpu) { rcu_->start(cpu); }
  // Called between sections, when this CPU reads nothing.
  void quiescent(Cpu& cpu) { rcu_->quiescent(cpu); }

  // Returns the copy that a reader may use until end_read().
  Address begin_read(Cpu& cpu) {
    rcu_->read_lock(cpu);
    return current(cpu);
  }
  void end_read(Cpu& cpu) { rcu_->read_unlock(cpu); }

  // Returns a copy to fill. Waits for a grace period if all of this CPU's copies are still in use, so the writers' lock must
  // not be held.
  Address take_copy(Cpu& cpu);
  // The published copy, and a way to replace it. REQUIRES: the caller holds the writers' lock.
  Address current(Cpu& cpu) const { return cpu.load_acquire(pointer_); }
  // Returned to the CPU when no reader can see it any more.
  void publish(Cpu& cpu, Address copy) const { cpu.store_release(pointer_, copy); }
  void retire(Cpu& cpu, Address copy);

  [[nodiscard]] const Rcu& rcu() const { return *rcu_; }

 private:
  std::vector<Address>& free(const Cpu& cpu) { return free_[cpu.id().value]; }

  Interrupts interrupts_;
  std::unique_ptr<Rcu> rcu_;
  Address pointer_ = 0;
  std::vector<std::vector<Address>> free_;  // by CPU
};

constexpr int kCopies = 64;   // copies for each CPU: the most that it may retire before a grace period ends
constexpr Address kHead = 8;  // offset in the first line, for RCU's queue

PublishedData::PublishedData(const WorkloadSetup& setting, std::int64_t lines, const RcuOptions& options)
    : interrupts_(setting.machine.cpus), rcu_(make_classic_rcu(setting, interrupts_, options)), free_(setting.machine.cpus) {
  AddressSpace& memory = setting.memory;
  pointer_ = memory.place_array("published", memory.line_bytes());
  const std::int64_t bytes = std::max<std::int64_t>(1, lines) * memory.line_bytes();
  for (int cpu = 0; cpu < setting.machine.cpus; ++cpu) {
    const Home home = Home::near(setting.layout.cpus[cpu]);
    const Address begin = memory.place_array(fmt::format("copies[{}]", cpu), kCopies * bytes, home);
    for (int copy = 0; copy < kCopies; ++copy) {
      free_[cpu].push_back(begin + static_cast<Address>(copy * bytes));
    }
  }
  memory.preset(pointer_, free_.front().back());
  free_.front().pop_back();
}

Address PublishedData::take_copy(Cpu& cpu) {
  while (free(cpu).empty()) rcu_->synchronize(cpu);
  const Address copy = free(cpu).back();
  free(cpu).pop_back();
  return copy;
}

void PublishedData::retire(Cpu& cpu, Address copy) {
  rcu_->call(cpu, copy + kHead, [this, copy](Cpu& here) { free(here).push_back(copy); });
}

constexpr const char* kSection = "critical_section";  // the name of the sections' function in reports

enum SectionTally : int { kEntered = 0, kTornReads = 1 };

struct CriticalSectionOptions {
  std::string lock = "ticket";
  std::int64_t data_lines = 1;
  std::int64_t inside_cycles = 100;
  std::int64_t outside_cycles = 1000;
  std::string inside = "constant";
  std::string outside = "uniform";
  std::string outside_by_cpu;
  std::int64_t burst = 1;
  std::uint64_t read_pct = 0;
  RcuOptions rcu;

  void bind(ParameterBinder& parameters) {
    parameters.text("lock", lock, "which lock protects the section; with rcu, writers publish copies",
                    lock_names([](const LockTraits&) { return true; }));
    parameters.names_lock([](const LockTraits&) { return std::string(); });
    parameters.number("data_lines", data_lines, 0, 100000, "lines that a writer reads and writes inside, and a reader reads");
    parameters.number("inside_cycles", inside_cycles, 0, 1e9, "mean computed inside, beside the data");
    parameters.number("outside_cycles", outside_cycles, 0, 1e9, "mean computed outside");
    parameters.text("inside", inside,
                    "how the time inside is spread: constant, uniform, exponential, two_point (half the mean, "
                    "one time of ten 5.5 times the mean), or a histogram, \"100:9 5000:1\" (cycles:weight)");
    parameters.text("outside", outside, "how the time outside is spread, likewise");
    parameters.text("outside_by_cpu", outside_by_cpu,
                    "means of some CPUs in the place of outside_cycles, \"0:50000 1-7:500\" (CPUs:cycles)");
    parameters.number("burst", burst, 1, 1000, "sections in a row; the times outside of all of them come before the first");
    parameters.number("read_pct", read_pct, 0, 100, "sections that only read; a lock without readers lets them in one by one");
    rcu.bind(parameters);
  }
};

class CriticalSection final : public Workload {
 public:
  explicit CriticalSection(const Parameters& parameters) : options_(read_options<CriticalSectionOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override {
    seed_ = setting.seed;
    line_ = static_cast<Address>(setting.memory.line_bytes());
    lock_ = &setting.locks.create(options_.lock, "section_lock");
    if (lock_->traits().readers == Readers::never_wait) {
      published_ = std::make_unique<PublishedData>(setting, options_.data_lines, options_.rcu);
    } else {
      data_ = setting.memory.place_array("protected_data",
                                         std::max<std::int64_t>(1, options_.data_lines) * setting.memory.line_bytes());
    }
    if (!options_.outside_by_cpu.empty() && options_.outside.find(':') != std::string::npos)
      throw std::invalid_argument(
          "workload.outside_by_cpu: a histogram in workload.outside leaves no mean to set; legal with it: \"\"");
    inside_.emplace("inside", options_.inside, options_.inside_cycles);
    for (const std::int64_t mean :
         cycles_by_cpu("outside_by_cpu", options_.outside_by_cpu, options_.outside_cycles, setting.machine.cpus)) {
      outside_.emplace_back("outside", options_.outside, mean);
    }
    section_ = setting.memory.function(kSection, Mode::kernel);
    writers_.resize(setting.machine.cpus);
  }

  void run(Cpu& cpu) override {
    const auto me = static_cast<std::uint64_t>(cpu.id().value);
    Random outside(seed_, me, 0);
    Random kinds(seed_, me, 1);
    Random insides(seed_, me, 2);
    if (published_) published_->start(cpu);
    for (std::int64_t section = 0;; ++section) {
      if (section % options_.burst == 0) stay_outside(cpu, outside_[me], outside);
      const std::int64_t cycles = inside_->draw(insides);
      {
        const FunctionScope scope(cpu, section_);
        if (kinds.below(100) < options_.read_pct) {
          read(cpu, cycles);
        } else {
          published_ ? write_copy(cpu, cycles) : write(cpu, cycles);
        }
      }
      if (published_) published_->quiescent(cpu);
      cpu.tally(kEntered);
    }
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override {
    const std::int64_t entered = tallied_by_all(facts, kEntered);
    const auto total = static_cast<double>(entered);
    double squares = 0;
    for (int cpu = 0; cpu < facts.cpus; ++cpu) {
      const auto own = static_cast<double>(facts.cpu(cpu).tallied(kEntered));
      squares += own * own;
    }
    report_rate(facts, entered, metrics);
    report_least_share(facts, kEntered, metrics);
    metrics.value("fairness.jain_pct", "%", kHigher,
                  "Jain's index: 100 if all CPUs got the same, 100 / CPUs if one got everything",
                  squares == 0 ? 0 : 100.0 * total * total / (squares * facts.cpus));
    metrics.count("section.lost_updates", "", kLower, "increments that were lost; not 0 for lock `none` alone", lost_updates());
    metrics.count("section.torn_reads", "", kLower, "readers who saw half of a writer's data; not 0 for lock `none` alone",
                  tallied_by_all(facts, kTornReads));
    if (published_ || facts.cpus == 0) report_rcu(published_ ? &published_->rcu() : nullptr, metrics);
  }

 private:
  // A CPU's stores to the first word since the beginning of the run.
  struct Writer {
    std::int64_t stores = 0;
    Value largest = 0;
  };

  [[nodiscard]] Address word(Address data, std::int64_t line) const { return data + static_cast<Address>(line) * line_; }

  void stay_outside(Cpu& cpu, const Duration& outside, Random& random) const {
    std::int64_t cycles = 0;
    for (std::int64_t i = 0; i < options_.burst; ++i) cycles += outside.draw(random);
    if (cycles > 0) cpu.compute(cycles);
  }

  void write(Cpu& cpu, std::int64_t cycles) {
    lock_->acquire(cpu);
    count_up(cpu, data_, data_);
    cpu.compute(cycles);
    lock_->release(cpu);
  }

  void write_copy(Cpu& cpu, std::int64_t cycles) {
    const Address fresh = published_->take_copy(cpu);
    lock_->acquire(cpu);
    const Address old = published_->current(cpu);
    count_up(cpu, old, fresh);
    cpu.compute(cycles);
    published_->publish(cpu, fresh);
    lock_->release(cpu);
    published_->retire(cpu, old);
  }

  void count_up(Cpu& cpu, Address from, Address to) {
    for (std::int64_t i = 0; i < options_.data_lines; ++i) {
      const Value value = cpu.load(word(from, i)) + 1;
      cpu.store(word(to, i), value);
      if (i == 0) count_store(cpu, value);
    }
  }

  void count_store(const Cpu& cpu, Value value) {
    Writer& writer = writers_[cpu.id().value];
    ++writer.stores;
    writer.largest = std::max(writer.largest, value);
    if (!lock_->traits().excludes) return;
    // Compares with the latest section, which the host has already run: a lock orders sections through simulated memory.
    if (value != latest_.value + 1) fail_lost(cpu, value - 1);
    latest_ = {value, cpu.id()};
  }

  [[noreturn]] void fail_lost(const Cpu& cpu, Value found) const {
    throw LockDoesNotExclude(options_.lock,
                             fmt::format("CPU {} finds {} updates under {} in {} at {}, and not the {} that CPU {} has left: "
                                         "an update was lost",
                                         cpu.id().value, found, lock_->name(), kSection, time_text(cpu, cpu.local_time()),
                                         latest_.value, latest_.by.value));
  }

  void read(Cpu& cpu, std::int64_t cycles) const {
    bool whole = true;
    do {
      lock_->acquire_shared(cpu);
      whole = is_whole(cpu, published_ ? published_->begin_read(cpu) : data_);
      cpu.compute(cycles);
      if (published_) published_->end_read(cpu);
    } while (!lock_->release_shared(cpu));
    judge(cpu, whole);
  }

  void judge(Cpu& cpu, bool whole) const {
    if (whole) return;
    if (lock_->traits().excludes)
      throw LockDoesNotExclude(options_.lock, fmt::format("CPU {}, a reader, has seen half of a writer's data in {} before {}",
                                                          cpu.id().value, kSection, time_text(cpu, cpu.local_time())));
    cpu.tally(kTornReads);
  }

  bool is_whole(Cpu& cpu, Address data) const {
    bool whole = true;
    Value first = 0;
    for (std::int64_t i = 0; i < options_.data_lines; ++i) {
      const Value value = cpu.load(word(data, i));
      if (i == 0) first = value;
      whole = whole && value == first;
    }
    return whole;
  }

  [[nodiscard]] std::int64_t lost_updates() const {
    std::int64_t stores = 0;
    Value largest = 0;
    for (const Writer& writer : writers_) {
      stores += writer.stores;
      largest = std::max(largest, writer.largest);
    }
    return stores - static_cast<std::int64_t>(largest);
  }

  CriticalSectionOptions options_;
  std::uint64_t seed_ = 0;
  Address line_ = 0;
  Address data_ = 0;
  FunctionId section_ = 0;
  MeteredLock* lock_ = nullptr;
  std::optional<Duration> inside_;
  std::vector<Duration> outside_;             // by CPU
  std::unique_ptr<PublishedData> published_;  // used instead of data_ if writers must publish copies
  std::vector<Writer> writers_;               // by CPU
  struct {
    Value value = 0;
    CpuId by{0};
  } latest_;  // the latest update; kept under locks that exclude
};

}  // namespace

WorkloadEntry critical_section_workload() {
  return {"critical_section",
          "All CPUs acquire one lock and work on the data that it protects",
          declare<CriticalSectionOptions>(),
          make_workload<CriticalSection>,
          {headlines::kOperations, {"locks.section_lock.wait_mean_us", "wait"}, headlines::kLeastCpu}};
}

}  // namespace linebounce::workloads
