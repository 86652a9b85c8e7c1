// A process with a thread on every CPU, some of which map pages and unmap them. Each munmap makes all other CPUs drop the
// translations, by an interrupt, and waits until they have. The other CPUs run user code and lose the time that the interrupts
// take.
#include <optional>
#include <vector>

#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/locks/metered_lock.hpp"
#include "workloads/program/random.hpp"
#include "workloads/program/shootdown.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/times.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kUnmappings = 0;  // tallies
constexpr int kUserRounds = 1;

constexpr Address kBytesOfPage = 4096;

struct MunmapOptions {
  std::int64_t pages = 1;
  std::int64_t unmapping_cpus = 1;
  std::int64_t base_cycles = 2000;
  std::int64_t page_cycles = 200;
  std::int64_t between_cycles = 10000;
  std::int64_t user_cycles = 1000;
  bool shoot_down = true;
  std::string lock = "mutex";

  void bind(ParameterBinder& parameters) {
    parameters.number("pages", pages, 1, 1 << 20, "of each mapping");
    parameters.number("unmapping_cpus", unmapping_cpus, 1, 1024, "so many CPUs map and unmap, from CPU 0 on");
    parameters.number("base_cycles", base_cycles, 0, 1e9, "of a munmap beside its pages and the shootdown");
    parameters.number("page_cycles", page_cycles, 0, 1e9, "for each page: its entry is cleared, the page is given back");
    parameters.number("between_cycles", between_cycles, 1, 1e9,
                      "between two of one CPU, mean: the next mapping is made and used");
    parameters.number("user_cycles", user_cycles, 1, 1e9, "of user code between two loads of the other CPUs");
    parameters.flag("shoot_down", shoot_down, "false: what a munmap costs that tells nobody");
    parameters.text("lock", lock, "guards the address space",
                    lock_names([](const LockTraits& traits) { return traits.excludes; }));
    parameters.names_lock([](const LockTraits& traits) {
      return traits.excludes ? std::string() : std::string("it excludes nobody, and here it must");
    });
  }
};

class Munmap final : public Workload {
 public:
  explicit Munmap(const Parameters& parameters) : options_(read_options<MunmapOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override {
    AddressSpace& space = setting.memory;
    cpus_ = setting.machine.cpus;
    seed_ = setting.seed;
    interrupts_.emplace(cpus_);
    shootdowns_.emplace(space, setting.layout.cpus, *interrupts_);
    lock_ = &setting.locks.create(options_.lock, "mmap_lock");
    for (int cpu = 0; cpu < cpus_; ++cpu) everybody_.emplace_back(cpu);
    const auto bytes = static_cast<std::int64_t>(kBytesOfPage);
    for (int cpu = 0; cpu < cpus_; ++cpu)
      mine_.push_back(space.place_array("user_data[" + std::to_string(cpu) + "]", kUserPages * bytes));
    mapped_ = space.place_array("mapping", options_.pages * bytes);
    entries_ = space.place_array("page_table", options_.pages * 8);
    munmap_ = space.function("munmap", Mode::kernel);
    user_ = space.function("user_code", Mode::user);
    ticks_.resize(cpus_);
  }

  void run(Cpu& cpu) override {
    interrupts_->start(cpu);
    Random random(seed_, static_cast<std::uint64_t>(cpu.id().value), 0);
    for (;;) {
      if (cpu.id().value < options_.unmapping_cpus) {
        compute_about(cpu, random, options_.between_cycles);
        unmap(cpu);
      } else {
        use_memory(cpu, random);
      }
    }
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override {
    report_rate(facts, tallied_by_all(facts, kUnmappings), metrics);
    Tick ticks = 0;
    for (const Tick of_cpu : ticks_) ticks += of_cpu;
    metrics.mean("cost.munmap", "ns", kLower,
                 "a munmap from its call to its return, with the wait for the address space's lock", facts.to_ns(ticks),
                 tallied_by_all(facts, kUnmappings));
    const auto rounds = static_cast<double>(tallied_by_all(facts, kUserRounds));
    metrics.value("munmap.user_rounds_per_us", "1/us", kHigher, "rounds of user code of all CPUs that do not unmap",
                  rounds > 0 ? std::optional(rounds * 1000 / facts.measured_ns) : std::nullopt);
  }

 private:
  static constexpr std::int64_t kUserPages = 16;

  void unmap(Cpu& cpu) {
    const FunctionScope unmapping(cpu, munmap_);
    const Tick begin = cpu.local_time();
    lock_->acquire(cpu);
    cpu.compute(options_.base_cycles);
    for (Address page = 0; page < static_cast<Address>(options_.pages); ++page) {
      cpu.store(entries_ + 8 * page, 0);
      if (options_.page_cycles > 0) cpu.compute(options_.page_cycles);
    }
    if (options_.shoot_down) shootdowns_->shoot_down(cpu, everybody_, mapped_, options_.pages);
    lock_->release(cpu);
    if (!cpu.measures(cpu.local_time())) return;
    ticks_[cpu.id().value] += cpu.local_time() - begin;
    cpu.tally(kUnmappings);
  }

  void use_memory(Cpu& cpu, Random& random) {
    const FunctionScope user(cpu, user_);
    cpu.load(mine_[cpu.id().value] + random.below(kUserPages) * kBytesOfPage);
    cpu.compute(options_.user_cycles);
    cpu.tally(kUserRounds);
  }

  MunmapOptions options_;
  int cpus_ = 0;
  std::uint64_t seed_ = 0;
  std::optional<Interrupts> interrupts_;
  std::optional<Shootdowns> shootdowns_;
  MeteredLock* lock_ = nullptr;
  std::vector<CpuId> everybody_;
  std::vector<Address> mine_;  // by CPU
  Address mapped_ = 0;
  Address entries_ = 0;
  FunctionId munmap_ = 0;
  FunctionId user_ = 0;
  std::vector<Tick> ticks_;  // by CPU
};

}  // namespace

WorkloadEntry munmap_workload() {
  return {"munmap",
          "TLB shootdowns: some CPUs unmap pages and interrupt all others to drop the translations",
          declare<MunmapOptions>(),
          make_workload<Munmap>,
          {{"cost.munmap", "munmap"}, {"munmap.user_rounds_per_us", "user code"}, headlines::kOperations}};
}

}  // namespace linebounce::workloads
