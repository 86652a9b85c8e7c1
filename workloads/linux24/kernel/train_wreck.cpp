// How long may a real-time task have to wait for a spin lock that all N CPUs want at once (Sarma, McKenney: OLS 2004, section
// 4)? With critical sections of at most C, the longest spin is S = (N - 1) C, provided that every CPU stays outside for at
// least S. Otherwise a CPU may return for a second turn before the last CPU has had its first. The CPUs meet at a barrier from
// time to time, so that they do want the lock at once. This also ends the longest waits.
#include <algorithm>

#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/program/barrier.hpp"
#include "workloads/program/random.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

struct TrainWreckOptions {
  std::string lock = "ticket";
  std::int64_t inside_cycles = 7000;
  std::int64_t outside_pct = 100;
  std::int64_t rounds_to_meeting = 64;

  void bind(ParameterBinder& parameters) {
    lock_parameter(parameters, "lock", lock, "what the CPUs wait for",
                   [](const LockTraits& traits) { return traits.excludes ? std::string() : std::string("nobody would wait"); });
    parameters.number("inside_cycles", inside_cycles, 100, 1e6,
                      "the longest critical section, C; each takes that or up to 1/64 less");
    parameters.number("outside_pct", outside_pct, 0, 10000, "the shortest time outside, in hundredths of (N - 1) C");
    parameters.number("rounds_to_meeting", rounds_to_meeting, 1, 1e9,
                      "sections of each CPU from one meeting, after which all want the lock at once, to the next");
  }
};

class TrainWreck final : public Workload {
 public:
  explicit TrainWreck(const Parameters& parameters) : options_(read_options<TrainWreckOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override {
    seed_ = setting.seed;
    lock_ = &setting.locks.create(options_.lock, "section_lock");
    longest_.assign(setting.machine.cpus, 0);
    longest_section_ = longest_;
    outside_ = std::max<std::int64_t>(1, (setting.machine.cpus - 1) * options_.inside_cycles * options_.outside_pct / 100);
    meeting_ = Barrier(setting.memory, "meeting", setting.machine.cpus);
    section_ = setting.memory.function("critical_section", Mode::kernel);
  }

  // Sections take C or slightly less, so that the CPUs change their order. The time outside is the chosen percentage of S, plus
  // up to an eighth.
  void run(Cpu& cpu) override {
    Random random(seed_, static_cast<std::uint64_t>(cpu.id().value), 0);
    const FunctionScope scope(cpu, section_);
    for (std::int64_t round = 0;; ++round) {
      const auto inside = options_.inside_cycles -
                          static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(options_.inside_cycles / 64 + 1)));
      const auto outside = outside_ + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(outside_ / 8 + 1)));
      if (round % options_.rounds_to_meeting == 0) meeting_.wait(cpu);
      enter(cpu, inside);
      cpu.compute(outside);
    }
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override {
    const auto most = [](const std::vector<double>& times) {
      return times.empty() ? 0 : *std::max_element(times.begin(), times.end());
    };
    const double longest = most(longest_);
    const double section = most(longest_section_);
    const double bound = section * (facts.cpus - 1);
    metrics.value("train_wreck.longest_wait_us", "us", kLower, "the longest wait for the lock", longest / 1000);
    metrics.value("train_wreck.bound_us", "us", kNeither, "(N - 1) times the longest critical section", bound / 1000);
    metrics.value("train_wreck.longest_wait_of_bound", "", kLower, "the longest wait / the bound",
                  bound > 0 ? std::optional(longest / bound) : std::nullopt);
  }

 private:
  void enter(Cpu& cpu, std::int64_t inside) {
    const int me = cpu.id().value;
    const Tick wanted = cpu.now();
    lock_->acquire(cpu);
    const Tick got = cpu.now();
    cpu.compute(inside);
    const Tick done = cpu.now();
    lock_->release(cpu);
    if (!cpu.measures(wanted) || !cpu.measures(done)) return;
    longest_[me] = std::max(longest_[me], cpu.to_ns(got - wanted));
    longest_section_[me] = std::max(longest_section_[me], cpu.to_ns(done - got));
  }

  TrainWreckOptions options_;
  std::int64_t outside_ = 0;
  std::uint64_t seed_ = 0;
  MeteredLock* lock_ = nullptr;
  Barrier meeting_;
  FunctionId section_ = 0;
  std::vector<double> longest_, longest_section_;  // ns, by CPU
};

}  // namespace

WorkloadEntry train_wreck_workload() {
  return {"train_wreck",
          "The longest wait for a lock that all CPUs want at the worst time",
          declare<TrainWreckOptions>(),
          make_workload<TrainWreck>,
          {{"train_wreck.longest_wait_us", "longest wait"},
           {"train_wreck.bound_us", "bound"},
           {"train_wreck.longest_wait_of_bound", "wait / bound"}}};
}

}  // namespace linebounce::workloads
