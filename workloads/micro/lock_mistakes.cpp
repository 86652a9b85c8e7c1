// Mistakes in using locks, one at a time, to show what the simulator reports for each. Each CPU has a lock, and takes its
// neighbour's lock as well while it works on the data of both.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/program/barrier.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

struct LockMistakesOptions {
  std::string lock = "ticket";
  std::string mistake = "none";
  std::int64_t rounds = 10;

  void bind(ParameterBinder& parameters) {
    lock_parameter(parameters, "lock", lock, "all locks", [](const LockTraits& traits) {
      return traits.excludes ? std::string() : std::string("it excludes nobody, so nobody waits and nothing is found");
    });
    parameters.text("mistake", mistake,
                    "deadlock: each CPU holds its own lock and wants the next one's; recursive: a CPU takes a lock that it "
                    "holds; released_twice; forgotten_release: CPU 0 ends with a lock in its hands",
                    {"none", "deadlock", "recursive", "released_twice", "forgotten_release"});
    parameters.number("rounds", rounds, 1, 1e6, "of every CPU");
  }
};

class LockMistakes final : public Workload {
 public:
  explicit LockMistakes(const Parameters& parameters) : options_(read_options<LockMistakesOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override {
    cpus_ = setting.machine.cpus;
    const bool needs_two = options_.mistake == "deadlock" || options_.mistake == "forgotten_release";
    if (needs_two && cpus_ < 2)
      throw std::invalid_argument("workload.mistake: " + options_.mistake + " needs machine.cpus of at least 2");
    for (int cpu = 0; cpu < cpus_; ++cpu) {
      locks_.push_back(&setting.locks.create(options_.lock, "lock_" + std::to_string(cpu)));
    }
    start_ = Barrier(setting.memory, "start", cpus_);
    take_both_ = setting.memory.function("take_both", Mode::kernel);
    take_next_ = setting.memory.function("take_next", Mode::kernel);
    work_ = setting.memory.function("work", Mode::kernel);
  }

  void run(Cpu& cpu) override {
    start_.wait(cpu);
    for (std::int64_t round = 0; round < options_.rounds; ++round) {
      const FunctionScope scope(cpu, take_both_);
      if (options_.mistake == "deadlock") {
        own_then_next(cpu);
      } else {
        in_order(cpu);
      }
      if (forgets(cpu)) return;  // and never returns
    }
  }

  [[nodiscard]] bool ends() const override { return true; }
  void report(const RunFacts& facts, MetricSink& metrics) const override {
    metrics.count("mistake.rounds", "", kNeither, "rounds of all CPUs", options_.rounds * facts.cpus);
  }

 private:
  [[nodiscard]] MeteredLock& lock_of(int cpu) const { return *locks_[cpu % cpus_]; }

  // Every CPU holds its own lock and waits for the next CPU's: a circular wait.
  void own_then_next(Cpu& cpu) {
    const int me = cpu.id().value;
    lock_of(me).acquire(cpu);
    start_.wait(cpu);
    const FunctionScope scope(cpu, take_next_);
    lock_of(me + 1).acquire(cpu);
    work_on_both(cpu, lock_of(me));
    lock_of(me + 1).release(cpu);
    lock_of(me).release(cpu);
  }

  // Takes the lock with the lower number first, so that no circular wait can arise.
  void in_order(Cpu& cpu) {
    const int me = cpu.id().value;
    const int next = (me + 1) % cpus_;
    MeteredLock& first = lock_of(std::min(me, next));
    MeteredLock& second = lock_of(std::max(me, next));
    first.acquire(cpu);
    if (&first != &second) second.acquire(cpu);
    work_on_both(cpu, first);
    if (&first != &second) second.release(cpu);
    if (!forgets(cpu)) first.release(cpu);
  }

  [[nodiscard]] bool forgets(const Cpu& cpu) const { return options_.mistake == "forgotten_release" && cpu.id().value == 0; }

  void work_on_both(Cpu& cpu, MeteredLock& held) {
    const FunctionScope scope(cpu, work_);
    cpu.compute(100);
    if (options_.mistake == "recursive") held.acquire(cpu);
    if (options_.mistake == "released_twice") {
      held.release(cpu);
      held.release(cpu);
    }
  }

  LockMistakesOptions options_;
  int cpus_ = 0;
  std::vector<MeteredLock*> locks_;
  Barrier start_;
  FunctionId take_both_ = 0;
  FunctionId take_next_ = 0;
  FunctionId work_ = 0;
};

}  // namespace

WorkloadEntry lock_mistakes_workload() {
  return {"lock_mistakes",
          "Lock misuse and how each mistake is reported: deadlock, double acquisition, wrong release",
          declare<LockMistakesOptions>(),
          make_workload<LockMistakes>,
          {{"mistake.rounds", "rounds"}}};
}

}  // namespace linebounce::workloads
