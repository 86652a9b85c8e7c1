// How late does a periodic task start on a CPU where thousands of RCU callbacks run at the end of a grace period (Sarma,
// McKenney: OLS 2004, section 4.2.3)? On every CPU, a process removes objects in bursts, with a system call for each; the
// objects are freed after a grace period. On CPU 0, a timer makes a real-time task runnable. The task preempts user code and
// kernel threads, but no softirq and no system call.
//
// The paper's remedies: `throttled` runs callbacks in small batches, so that softirqs are bounded, and leaves the rest to
// ksoftirqd; `daemon` leaves what exceeds a batch to a preemptible thread; `direct` runs callbacks at once, on a machine of one
// CPU. For comparison, `none` has system calls that free nothing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "models/failure.hpp"
#include "workloads/program/random.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/times.hpp"
#include "workloads/program/workload_entry.hpp"
#include "workloads/rcu/rcu.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kRemovedObjects = 0;         // tally
constexpr std::uint64_t kBurstStream = 5;  // the stream of random numbers
constexpr Value kInUse = 1, kIsFreed = 0xDEAD;
constexpr Address kCallbackHead = 8;  // offset of RCU's head in an object; the object's state comes first
constexpr std::int64_t kSwitchInstructions = 400;
constexpr std::array kBoundsUs = {10, 20, 50, 100, 200, 500, 1000, 2000, 5000};

struct RcuRealtimeOptions {
  std::string callbacks = "untreated";
  int batch = 10;
  int burst = 2000;
  int objects_per_cpu = 20000;
  double between_bursts_us = 10000;
  std::int64_t free_instructions = 300;
  double period_us = 1000;
  double task_us = 20;
  bool holds_what_it_removes = false;
  RcuOptions rcu;

  void bind(ParameterBinder& parameters) {
    parameters.text(
        "callbacks", callbacks,
        "none; all in one softirq; `batch` at a time; what exceeds a batch in a thread that can be preempted; at once, "
        "on one CPU",
        {"none", "untreated", "throttled", "daemon", "direct"});
    parameters.number("batch", batch, 1, 1e6, "callbacks of a softirq, throttled or with a daemon (Linux 2.6.9: 10)");
    parameters.number("burst", burst, 1, 1e5, "objects that a process removes, one system call each");
    parameters.number("objects_per_cpu", objects_per_cpu, 1, 1e6,
                      "in memory; a process without one to remove goes on computing");
    parameters.number("between_bursts_us", between_bursts_us, 1, 1e6, "mean time that a process computes between two bursts");
    parameters.number("free_instructions", free_instructions, 0, 1e6, "of a callback, beside its misses");
    parameters.number("period_us", period_us, 10, 1e6, "of the real-time task on CPU 0");
    parameters.number("task_us", task_us, 0.1, 1e5, "that it computes");
    parameters.flag("holds_what_it_removes", holds_what_it_removes,
                    "a process reads an object again that it has just removed: what callbacks that run at once don't allow");
    parameters.number("rcu_tick_us", rcu.tick_us, 1, 1e6, "between two clock ticks of a CPU");
  }

  [[nodiscard]] RcuOptions treated() const {
    RcuOptions made = rcu;
    if (callbacks == "throttled" || callbacks == "daemon") made.batch_limit = batch;
    made.excess_to_thread = callbacks == "daemon";
    made.direct = callbacks == "direct";
    return made;
  }
};

class RcuRealtime final : public Workload {
 public:
  explicit RcuRealtime(const Parameters& parameters) : options_(read_options<RcuRealtimeOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override;
  void run(Cpu& cpu) override;
  void report(const RunFacts& facts, MetricSink& metrics) const override;

 private:
  struct OfCpu {
    std::vector<Address> free;
    double due_ns = -1;      // when the real-time task became runnable; -1: it is not
    bool in_thread = false;  // true if ksoftirqd or krcud has the CPU or was preempted on it
  };
  OfCpu& of(const Cpu& cpu) { return cpus_[cpu.id().value]; }

  void name_functions(AddressSpace& memory);
  void timer(Cpu& cpu);
  [[nodiscard]] bool preemptible(FunctionId function) const { return function == user_ || function == thread_; }
  void schedule(Cpu& cpu);
  void switch_context(Cpu& cpu);
  void run_task(Cpu& cpu);
  bool run_thread(Cpu& cpu);
  void remove_burst(Cpu& cpu);
  void remove(Cpu& cpu, Address object);
  void free_object(Cpu& cpu, OfCpu& own, Address object);

  RcuRealtimeOptions options_;
  std::uint64_t seed_ = 0;
  std::optional<Interrupts> interrupts_;
  std::unique_ptr<Rcu> rcu_;
  std::optional<Pace> pace_;
  std::int64_t between_cycles_ = 0, task_cycles_ = 0;
  int vector_ = 0;
  FunctionId user_ = 0, task_ = 0, remove_ = 0, free_ = 0, thread_ = 0, schedule_ = 0;
  double next_period_ns_ = 0;
  std::vector<OfCpu> cpus_;
  std::vector<double> latencies_us_;  // delays of the task's starts that fall in the measured time
  std::vector<SeriesSample> late_;    // the same delays over time, including the warm-up
};

void RcuRealtime::set_up(const WorkloadSetup& setting) {
  seed_ = setting.seed;
  interrupts_.emplace(setting.machine.cpus);
  rcu_ = make_classic_rcu(setting, *interrupts_, options_.treated());
  pace_.emplace(1.0, setting.machine);
  between_cycles_ = cycles(options_.between_bursts_us, setting.machine);
  task_cycles_ = cycles(options_.task_us, setting.machine);
  vector_ = interrupts_->add_handler([this](Cpu& cpu, FunctionId) { timer(cpu); });
  interrupts_->defer_rest_to([](Cpu&) {});  // schedule() runs the rest
  interrupts_->on_return([this](Cpu& cpu, FunctionId interrupted) {
    if (!preemptible(interrupted)) return;
    cpu.enable_interrupts();
    schedule(cpu);
    cpu.disable_interrupts();
  });
  name_functions(setting.memory);
  const int bytes = 2 * setting.memory.line_bytes();
  cpus_.resize(setting.machine.cpus);
  for (std::size_t cpu = 0; cpu < cpus_.size(); ++cpu) {
    const Address objects = setting.memory.place_array(
        fmt::format("objects[{}]", cpu), std::int64_t{options_.objects_per_cpu} * bytes, Home::near(setting.layout.cpus[cpu]));
    for (int i = 0; i < options_.objects_per_cpu; ++i)
      cpus_[cpu].free.push_back(objects + static_cast<Address>(i) * static_cast<Address>(bytes));
  }
}

void RcuRealtime::name_functions(AddressSpace& memory) {
  user_ = memory.function("user", Mode::user);
  task_ = memory.function("realtime_task", Mode::user);
  remove_ = memory.function("sys_unlink", Mode::kernel);
  free_ = memory.function("free_callback", Mode::kernel);
  thread_ = memory.function(options_.callbacks == "daemon" ? "krcud" : "ksoftirqd", Mode::kernel);
  schedule_ = memory.function("schedule", Mode::kernel);
}

void RcuRealtime::run(Cpu& cpu) {
  rcu_->start(cpu);
  Random random(seed_, static_cast<std::uint64_t>(cpu.id().value), kBurstStream);
  if (cpu.id().value == 0) {
    next_period_ns_ = cpu.now_ns() + options_.period_us * 1000;
    cpu.set_timer(options_.period_us * 1000, vector_);
  }
  for (;;) {
    const std::int64_t between = draw_about(random, between_cycles_);
    {
      const FunctionScope scope(cpu, user_);
      cpu.compute(between);
      cpu.now();  // an interrupt that is due now then finds user code
    }
    remove_burst(cpu);
  }
}

// The timer's period is fixed: if an expiry is handled late, the next one still comes at its time.
void RcuRealtime::timer(Cpu& cpu) {
  OfCpu& own = of(cpu);
  if (own.due_ns < 0) own.due_ns = next_period_ns_;
  const double now_ns = cpu.now_ns();
  do next_period_ns_ += options_.period_us * 1000;
  while (next_period_ns_ <= now_ns);
  cpu.set_timer(next_period_ns_ - now_ns, vector_);
}

// Called before the CPU returns to preemptible code. Runs the real-time task first, then a kernel thread.
void RcuRealtime::schedule(Cpu& cpu) {
  OfCpu& own = of(cpu);
  for (;;) {
    if (own.due_ns >= 0) {
      switch_context(cpu);
      run_task(cpu);
      switch_context(cpu);
    } else if (own.in_thread || !run_thread(cpu)) {
      return;
    }
  }
}

void RcuRealtime::switch_context(Cpu& cpu) {
  const FunctionScope scope(cpu, schedule_);
  cpu.execute(kSwitchInstructions);
  rcu_->quiescent(cpu);
}

void RcuRealtime::run_task(Cpu& cpu) {
  OfCpu& own = of(cpu);
  const FunctionScope scope(cpu, task_);
  const double now_ns = cpu.now_ns();
  const double late_us = (now_ns - own.due_ns) / 1000;
  own.due_ns = -1;
  late_.push_back({now_ns / 1000, late_us});
  if (cpu.measures(cpu.local_time())) latencies_us_.push_back(late_us);
  cpu.compute(task_cycles_);
  cpu.now();
}

// Runs ksoftirqd or krcud for one round, or until it has no work. Returns whether there was any work.
bool RcuRealtime::run_thread(Cpu& cpu) {
  OfCpu& own = of(cpu);
  const FunctionScope scope(cpu, thread_);
  own.in_thread = true;
  bool worked = false;
  if (options_.callbacks == "daemon") {
    worked = rcu_->run_excess(cpu, [&own] { return own.due_ns >= 0; }) > 0;
  } else if (interrupts_->is_raised(cpu)) {
    interrupts_->run_pending_softirqs(cpu);
    rcu_->quiescent(cpu);
    worked = true;
  }
  own.in_thread = false;
  return worked;
}

// Removes a burst of objects, with a system call for each. Between two calls the kernel may switch threads.
void RcuRealtime::remove_burst(Cpu& cpu) {
  OfCpu& own = of(cpu);
  for (int i = 0; i < options_.burst && !own.free.empty(); ++i) {
    const Address object = own.free.back();
    own.free.pop_back();
    remove(cpu, object);
    schedule(cpu);
  }
}

void RcuRealtime::remove(Cpu& cpu, Address object) {
  const FunctionScope scope(cpu, remove_);
  OfCpu& own = of(cpu);
  cpu.store(object, kInUse);
  if (options_.callbacks == "none") {
    own.free.push_back(object);
  } else {
    rcu_->call(cpu, object + kCallbackHead, [this, &own, object](Cpu& on) { free_object(on, own, object); });
  }
  cpu.tally(kRemovedObjects);
  if (options_.holds_what_it_removes && cpu.load(object) == kIsFreed)
    throw ModelFailure(
        fmt::format("rcu_realtime: CPU {} still uses object 0x{:x}, which has been freed", cpu.id().value, object));
}

void RcuRealtime::free_object(Cpu& cpu, OfCpu& own, Address object) {
  const FunctionScope scope(cpu, free_);
  pace_->pass(cpu, options_.free_instructions);
  cpu.store(object, kIsFreed);
  own.free.push_back(object);
}

void RcuRealtime::report(const RunFacts& facts, MetricSink& metrics) const {
  report_rate(facts, tallied_by_all(facts, kRemovedObjects), metrics);
  report_rcu(rcu_.get(), metrics);
  metrics.series("realtime.latency_us", late_);
  metrics.count("realtime.starts", "", kNeither, "starts of the real-time task",
                static_cast<std::int64_t>(latencies_us_.size()), kDetail);
  std::vector<double> sorted = latencies_us_;
  std::sort(sorted.begin(), sorted.end());
  const auto later = std::count_if(sorted.begin(), sorted.end(), [](double us) { return us > 1000; });
  metrics.count("realtime.later_than_1_ms", "", kLower, "starts more than 1 ms late",
                sorted.empty() ? std::nullopt : std::optional<std::int64_t>(later));
  const auto at = [&sorted](double share) -> std::optional<double> {
    if (sorted.empty()) return std::nullopt;
    const auto place = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::min(sorted.size() - 1, place == 0 ? 0 : place - 1)];
  };
  metrics.value("realtime.latency_median_us", "us", kLower,
                "from when the real-time task should run until it does: half of its starts are not later", at(0.5));
  metrics.value("realtime.latency_p99_us", "us", kLower, "likewise, 99 % of the starts", at(0.99));
  metrics.value("realtime.latency_p999_us", "us", kLower, "likewise, 99.9 % of the starts", at(0.999));
  metrics.value("realtime.latency_p9999_us", "us", kLower, "likewise, 99.99 % of the starts", at(0.9999));
  metrics.value("realtime.latency_max_us", "us", kLower, "likewise, the worst", at(1));
  const MetricFamily within = metrics.family("realtime.within_<bound>_us_pct", "%", kHigher,
                                             "the share of the starts that are no later than that, the distribution", kDetail);
  for (const int bound : kBoundsUs) {
    const auto starts = std::upper_bound(sorted.begin(), sorted.end(), bound) - sorted.begin();
    if (!sorted.empty())
      within.add({std::to_string(bound)}, 100.0 * static_cast<double>(starts) / static_cast<double>(sorted.size()));
  }
}

}  // namespace

WorkloadEntry rcu_realtime_workload() {
  return {"rcu_realtime",
          "How late a periodic task starts beside thousands of RCU callbacks, and what helps",
          declare<RcuRealtimeOptions>(),
          make_workload<RcuRealtime>,
          {{"realtime.latency_max_us", "worst latency"}, {"realtime.latency_p999_us", "99.9 %"}, headlines::kOperations}};
}

}  // namespace linebounce::workloads
