#include "workloads/linux26/network/cpu_threads.hpp"

#include <algorithm>

#include "workloads/program/times.hpp"

namespace linebounce::workloads {
namespace {

constexpr std::int64_t kSwitchCost = 400;  // cost of schedule() and the switch in instructions, without misses
constexpr double kStarvedNs = 1e9;         // longer starvation is counted; the paper's program uses the same limit
constexpr double kQuotaWindowNs = 10e6;

}  // namespace

void CpuThreadsOptions::bind(ParameterBinder& parameters) {
  parameters.number("processes", processes, 0, 1024,
                    "CPUs, from the first on, with a process that looks at the clock again and again; the others are idle");
  parameters.number("look_us", look_us, 1, 1e4, "a process computes between two looks at the clock");
  parameters.number("process_slice_ticks", process_slice_ticks, 1, 10000, "a process' time slice (Linux 2.6.0, nice 0: 102)");
  parameters.number("ksoftirqd_slice_ticks", ksoftirqd_slice_ticks, 1, 10000, "ksoftirqd's time slice (nice 19: 10)");
  parameters.number("softirq_rounds", softirq_rounds, 1, 1000,
                    "how often softirqs that were raised meanwhile run again after an interrupt; the rest is ksoftirqd's");
  parameters.number("softirq_quota_pct", softirq_quota_pct, 1, 100,
                    "of each 10 ms that softirqs may take after interrupts; the rest is ksoftirqd's; 100: no quota");
}

CpuThreads::CpuThreads(const WorkloadSetup& setting, Interrupts& interrupts, Rcu& rcu, const CpuThreadsOptions& options)
    : options_(options),
      interrupts_(&interrupts),
      rcu_(&rcu),
      look_cycles_(cycles(options.look_us, setting.machine)),
      jiffies_(setting.memory.place({.name = "jiffies", .size = 8, .fields = {{"jiffies", 0}}}, "jiffies",
                                    setting.memory.line_bytes())),
      user_(setting.memory.function("user", Mode::user)),
      schedule_(setting.memory.function("schedule", Mode::kernel)),
      ksoftirqd_(setting.memory.function("ksoftirqd", Mode::kernel)),
      cpus_(setting.machine.cpus) {
  for (std::size_t cpu = 0; cpu < cpus_.size(); ++cpu) {
    OfCpu& own = cpus_[cpu];
    own.process.runnable = cpu < static_cast<std::size_t>(options.processes);
    own.process.ticks_left = options.process_slice_ticks;
    own.ksoftirqd.ticks_left = options.ksoftirqd_slice_ticks;
  }
  interrupts.defer_rest_to([this](Cpu& cpu) { wake_ksoftirqd(cpu); }, options.softirq_rounds);
  interrupts.on_return([this](Cpu& cpu, FunctionId interrupted) { returns(cpu, interrupted); });
  if (options.softirq_quota_pct < 100) {
    interrupts.admit_softirqs([this](Cpu& cpu) { return within_quota(cpu); });
    interrupts.after_softirq([this](Cpu& cpu, int) {
      OfCpu& own = of(cpu);
      own.in_softirqs += cpu.local_time() - own.softirqs_began;
      own.softirqs_began = cpu.local_time();
    });
  }
}

void CpuThreads::run(Cpu& cpu) {
  OfCpu& own = of(cpu);
  if (!own.process.runnable) {
    const FunctionScope scope(cpu, rcu_->idle_function());
    for (;;) cpu.sleep();
  }
  for (;;) {
    {
      const FunctionScope scope(cpu, user_);
      cpu.compute(look_cycles_);
      cpu.now();  // an interrupt that is due now then finds user code
    }
    look(cpu);
  }
}

void CpuThreads::look(Cpu& cpu) {
  OfCpu& own = of(cpu);
  const Tick now = cpu.local_time();
  if (own.looked_at >= 0 && cpu.measures(now)) {
    const double gap_ns = cpu.to_ns(now - own.looked_at);
    own.longest_ns = std::max(own.longest_ns, gap_ns);
    if (gap_ns > kStarvedNs) ++own.starved;
  }
  own.looked_at = now;
}

void CpuThreads::tick(Cpu& cpu) {
  OfCpu& own = of(cpu);
  if (cpu.id().value == 0) {
    const Value jiffies = cpu.load(jiffies_);
    cpu.store(jiffies_, jiffies + 1);
  }
  Thread& running = own.in_ksoftirqd ? own.ksoftirqd : own.process;
  if (!running.runnable || --running.ticks_left > 0) return;
  running.ticks_left = own.in_ksoftirqd ? options_.ksoftirqd_slice_ticks : options_.process_slice_ticks;
  running.expired = true;
  own.reschedule = true;
}

// Makes ksoftirqd runnable. An idle CPU runs it at once; a running process, whose priority is higher, is not preempted.
void CpuThreads::wake_ksoftirqd(Cpu& cpu) {
  OfCpu& own = of(cpu);
  if (own.ksoftirqd.runnable) return;
  own.ksoftirqd.runnable = true;
  if (cpu.measures(cpu.local_time())) ++own.left_over;
  if (!own.process.runnable) own.reschedule = true;
}

// Returns true if ksoftirqd runs next. The process goes first unless its time slice is used up. If both threads' slices are
// used up, both get new ones.
bool CpuThreads::ksoftirqd_is_next(OfCpu& own) {
  if (!own.ksoftirqd.runnable) return false;
  if (!own.process.runnable) return true;
  if (own.process.expired && own.ksoftirqd.expired) own.process.expired = own.ksoftirqd.expired = false;
  return own.process.expired;
}

// Called when an interrupt returns. Switches threads only if it interrupted user code or the idle loop. REQUIRES: interrupts
// are off.
void CpuThreads::returns(Cpu& cpu, FunctionId interrupted) {
  OfCpu& own = of(cpu);
  if (!own.reschedule || own.in_ksoftirqd || (interrupted != user_ && interrupted != rcu_->idle_function())) return;
  own.reschedule = false;
  if (!own.ksoftirqd.runnable) own.process.expired = false;
  schedule(cpu);
  if (!ksoftirqd_is_next(own)) return;
  cpu.enable_interrupts();
  run_ksoftirqd(cpu);
  cpu.disable_interrupts();
}

// A quiescent state for RCU: every call of schedule() counts as a context switch, even if the same thread goes on.
void CpuThreads::schedule(Cpu& cpu) {
  const FunctionScope scope(cpu, schedule_);
  cpu.execute(kSwitchCost);
  rcu_->quiescent(cpu);
}

void CpuThreads::run_ksoftirqd(Cpu& cpu) {
  OfCpu& own = of(cpu);
  own.in_ksoftirqd = true;
  {
    const FunctionScope scope(cpu, ksoftirqd_);
    while (ksoftirqd_is_next(own)) {
      own.reschedule = false;
      while (interrupts_->is_raised(cpu) && !own.reschedule) interrupts_->run_pending_softirqs(cpu);
      cpu.disable_interrupts();  // otherwise an interrupt could raise a softirq, whose wake-up would be lost because ksoftirqd
                                 // is still runnable
      if (!interrupts_->is_raised(cpu)) own.ksoftirqd.runnable = own.ksoftirqd.expired = false;
      cpu.enable_interrupts();
    }
  }
  schedule(cpu);
  own.in_ksoftirqd = false;
}

// Called before each round of softirqs that follows an interrupt. Returns true if the softirqs' quota of CPU time still permits
// it.
bool CpuThreads::within_quota(Cpu& cpu) {
  OfCpu& own = of(cpu);
  const Tick now = cpu.local_time();
  if (cpu.to_ns(now - own.quota_from) >= kQuotaWindowNs) {
    own.quota_from = now;
    own.in_softirqs = 0;
  }
  own.softirqs_began = now;
  return cpu.to_ns(own.in_softirqs) * 100 < kQuotaWindowNs * options_.softirq_quota_pct;
}

int CpuThreads::run_queue_length(int cpu) const {
  const OfCpu& own = cpus_[cpu];
  return int{own.process.runnable} + int{own.ksoftirqd.runnable};
}

CpuThreads::Figures CpuThreads::figures() const {
  Figures figures;
  for (const OfCpu& own : cpus_) {
    if (options_.processes > 0) {
      figures.longest_ns = std::max(figures.longest_ns.value_or(0), own.longest_ns);
      figures.starved = figures.starved.value_or(0) + own.starved;
    }
    figures.left_over += own.left_over;
  }
  return figures;
}

void CpuThreads::Figures::report(MetricSink& metrics) const {
  const auto longest_ms = longest_ns ? std::optional(*longest_ns / 1e6) : std::nullopt;
  metrics.value("starvation.longest_ms", "ms", kLower,
                "the longest time between two looks of a process at the clock, OLS 2004's figure 9", longest_ms);
  metrics.count("starvation.longer_than_1_s", "", kLower, "how many such times were longer than a second", starved);
  metrics.count("softirq.left_to_ksoftirqd", "", kNeither,
                "how often softirqs came faster than they were handled, and woke ksoftirqd", left_over);
}

}  // namespace linebounce::workloads
