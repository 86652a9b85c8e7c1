// RCU of Linux 2.6.0, and hierarchical RCU since 2.6.29. They differ in how the CPUs agree on a grace period. At every clock
// tick, a CPU checks whether callbacks can advance or a quiescent state must be reported, and does so in a softirq. Its
// callbacks go from `next` (no grace period yet) to `current` (waiting for the end of one) to `done`.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "models/failure.hpp"
#include "workloads/rcu/callback_list.hpp"
#include "workloads/rcu/grace_periods.hpp"
#include "workloads/rcu/rcu.hpp"
#include "workloads/rcu/readers.hpp"

namespace linebounce::workloads {
namespace {

constexpr Value kNoneSeen = ~Value{0};  // no count of quiescent states has been stored for the grace period yet

// One CPU's state. Times and callback functions are kept outside simulated memory; all else is in simulated memory, homed on
// the CPU's node.
struct OfCpu {
  Address quiescent_states = 0;  // number of quiescent states passed
  Address seen = 0;              // value of quiescent_states when the CPU saw the grace period, or kNoneSeen
  Address batch = 0;             // the grace period that `current` waits for
  CallbackList next, current, done;
  Address completion_head = 0;  // the callback for which synchronize() waits
  Address completed = 0;

  struct Queued {
    std::function<void(Cpu&)> callback;
    Tick since;
  };
  std::map<Address, Queued> queued;
  double next_tick_ns = 0;

  std::size_t most_queued = 0;  // covers the whole run; the other figures cover the measured time
  std::int64_t callbacks = 0;
  std::int64_t largest_batch = 0;
  std::vector<CallbackBatch> batches;
  double waited_ns = 0;
  QuiescenceReports reports;
};

struct CallbackFigures {  // figures of the measured time; only most_queued is of the whole run
  std::int64_t callbacks = 0, largest_batch = 0, most_queued = 0;
  double waited_ns = 0;

  void report(MetricSink& metrics) const {
    metrics.count("rcu.callbacks", "", kNeither, "callbacks that ran", callbacks);
    metrics.count("rcu.batch_max", "", kNeither, "the most callbacks in one go", largest_batch);
    metrics.count("rcu.queued_max", "", kLower, "the most callbacks that waited on one CPU, in the whole run", most_queued);
    metrics.mean("rcu.callback_wait_mean_us", "us", kLower, "time of a callback from `call()` on, mean", waited_ns / 1000,
                 callbacks);
  }
};

class TickDrivenRcu final : public Rcu {
 public:
  TickDrivenRcu(const WorkloadSetup& setting, Interrupts& interrupts, const RcuOptions& options,
                std::unique_ptr<GracePeriods> grace_periods);

  void start(Cpu& cpu) override;
  void read_lock(Cpu& cpu) override {
    cpu.now();  // lets the handler of an earlier tick run first
    readers_.enter(cpu);
  }
  void read_unlock(Cpu& cpu) override {
    cpu.now();
    readers_.leave(cpu);
  }
  void quiescent(Cpu& cpu) override {
    readers_.refuse_inside(cpu, "a quiescent state");
    count_quiescent_state(cpu);
  }
  [[nodiscard]] FunctionId idle_function() const override { return idle_; }
  void call(Cpu& cpu, Address head, std::function<void(Cpu&)> callback) override;
  void synchronize(Cpu& cpu) override;
  [[nodiscard]] const std::vector<GracePeriod>& grace_periods() const override { return grace_periods_->times().log(); }
  std::int64_t run_excess(Cpu& cpu, const std::function<bool()>& stop) override;
  [[nodiscard]] std::vector<CallbackBatch> batches() const override;
  [[nodiscard]] std::size_t queued_on(const Cpu& cpu) const override { return cpus_[cpu.id().value].queued.size(); }
  void report(MetricSink& metrics) const override;
  void report_reports(MetricSink& metrics) const override;

 private:
  OfCpu& of(const Cpu& cpu) { return cpus_[cpu.id().value]; }
  void place(const WorkloadSetup& setting, int cpu);
  void set_next_tick(Cpu& cpu);
  void tick(Cpu& cpu, FunctionId interrupted);
  [[nodiscard]] bool is_quiescent(const Cpu& cpu, FunctionId function) const;
  void count_quiescent_state(Cpu& cpu);
  bool pending(Cpu& cpu);
  void process_callbacks(Cpu& cpu);
  void check_quiescent_state(Cpu& cpu);
  void run_done(Cpu& cpu);
  void run_one(Cpu& cpu, Address head);

  const AddressSpace* memory_;
  Interrupts* interrupts_;
  std::unique_ptr<GracePeriods> grace_periods_;
  RcuReaders readers_;
  double tick_ns_;
  std::int64_t batch_limit_;
  bool readers_in_softirqs_;
  bool excess_to_thread_;
  bool direct_;
  bool ticks_together_;
  std::vector<OfCpu> cpus_;
  int vector_;
  int softirq_;
  FunctionId tick_function_, call_function_, process_function_, idle_;
};

TickDrivenRcu::TickDrivenRcu(const WorkloadSetup& setting, Interrupts& interrupts, const RcuOptions& options,
                             std::unique_ptr<GracePeriods> grace_periods)
    : memory_(&setting.memory),
      interrupts_(&interrupts),
      grace_periods_(std::move(grace_periods)),
      readers_(setting.machine.cpus),
      tick_ns_(options.tick_us * 1000),
      batch_limit_(options.batch_limit > 0 ? options.batch_limit : INT64_MAX),
      readers_in_softirqs_(options.readers_in_softirqs),
      excess_to_thread_(options.excess_to_thread),
      direct_(options.direct),
      ticks_together_(options.ticks_together),
      cpus_(setting.machine.cpus),
      vector_(interrupts.add_handler([this](Cpu& cpu, FunctionId interrupted) { tick(cpu, interrupted); })),
      softirq_(interrupts.add_softirq([this](Cpu& cpu) { process_callbacks(cpu); })),
      tick_function_(setting.memory.function("rcu_check_callbacks", Mode::kernel)),
      call_function_(setting.memory.function("call_rcu", Mode::kernel)),
      process_function_(setting.memory.function("rcu_process_callbacks", Mode::kernel)),
      idle_(setting.memory.function("cpu_idle", Mode::kernel)) {
  if (direct_ && setting.machine.cpus > 1)
    throw std::invalid_argument("direct callbacks are for a machine of one CPU: others may be reading what is freed");
  for (int cpu = 0; cpu < setting.machine.cpus; ++cpu) place(setting, cpu);
  if (readers_in_softirqs_) interrupts.after_softirq([this](Cpu& cpu, int) { count_quiescent_state(cpu); });
}

void TickDrivenRcu::place(const WorkloadSetup& setting, int cpu) {
  static const Layout kLayout{.name = "rcu_data",
                              .size = 96,
                              .fields = {{"quiescent_states", 0},
                                         {"seen", 8},
                                         {"batch", 16},
                                         {"next_list", 24, 16},
                                         {"current_list", 40, 16},
                                         {"done_list", 56, 16},
                                         {"completion_head", 72, 16},
                                         {"completed", 88}}};
  const Address data = setting.memory.place(kLayout, fmt::format("rcu_data[{}]", cpu), setting.memory.line_bytes(),
                                            Home::near(setting.layout.cpus[cpu]));
  OfCpu& own = cpus_[cpu];
  own.quiescent_states = data;
  own.seen = data + 8;
  own.batch = data + 16;
  own.next = CallbackList(data + 24);
  own.current = CallbackList(data + 40);
  own.done = CallbackList(data + 56);
  own.completion_head = data + 72;
  own.completed = data + 88;
  setting.memory.preset(own.seen, kNoneSeen);
}

// With spread ticks, the CPUs' ticks are distributed over the tick's length, as the 2.4 kernel sets its local timers.
void TickDrivenRcu::start(Cpu& cpu) {
  interrupts_->start(cpu);
  const auto slices = static_cast<double>(cpus_.size() + 1);
  const double share = ticks_together_ ? 1 : (cpu.id().value + 1) / slices;
  of(cpu).next_tick_ns = cpu.now_ns() + tick_ns_ * share;
  set_next_tick(cpu);
}

// Ticks that the CPU is too late for are skipped.
void TickDrivenRcu::set_next_tick(Cpu& cpu) {
  const double now_ns = cpu.now_ns();
  double& next_ns = of(cpu).next_tick_ns;
  while (next_ns <= now_ns) next_ns += tick_ns_;
  cpu.set_timer(next_ns - now_ns, vector_);
}

void TickDrivenRcu::tick(Cpu& cpu, FunctionId interrupted) {
  const FunctionScope scope(cpu, tick_function_);
  set_next_tick(cpu);
  if (!pending(cpu)) return;
  if (is_quiescent(cpu, interrupted)) count_quiescent_state(cpu);
  interrupts_->raise(cpu, softirq_);
}

bool TickDrivenRcu::is_quiescent(const Cpu& cpu, FunctionId function) const {
  if (readers_.reads(cpu) || interrupts_->in_softirq(cpu)) return false;
  if (readers_in_softirqs_) return true;
  return function == idle_ || memory_->functions()[function].mode == Mode::user;
}

// A tick between load and store also counts one; the store then overwrites it. Losing one of two states at worst delays the
// report by a tick.
void TickDrivenRcu::count_quiescent_state(Cpu& cpu) {
  const Address counter = of(cpu).quiescent_states;
  const Value passed = cpu.load(counter);
  cpu.store(counter, passed + 1);
}

bool TickDrivenRcu::pending(Cpu& cpu) {
  const OfCpu& own = of(cpu);
  if (!own.done.empty(cpu)) return true;
  if (own.current.empty(cpu)) {
    if (!own.next.empty(cpu)) return true;
  } else {
    const Value batch = cpu.load(own.batch);
    if (batch < grace_periods_->current(cpu)) return true;
  }
  return grace_periods_->waits_for(cpu);
}

void TickDrivenRcu::call(Cpu& cpu, Address head, std::function<void(Cpu&)> callback) {
  if (interrupts_->in_handler(cpu)) throw ModelFailure("rcu: call() from an interrupt's handler");
  OfCpu& own = of(cpu);
  if (direct_) {
    readers_.check_gone(cpu.local_time());
    if (cpu.measures(cpu.local_time())) ++own.callbacks;
    callback(cpu);
    return;
  }
  const FunctionScope scope(cpu, call_function_);
  interrupts_->disable_softirqs(cpu);
  if (!own.queued.emplace(head, OfCpu::Queued{std::move(callback), cpu.local_time()}).second)
    throw ModelFailure(fmt::format("rcu: 0x{:x} is queued twice on CPU {}", head, cpu.id().value));
  own.most_queued = std::max(own.most_queued, own.queued.size());
  cpu.store(head, 0);      // no next
  cpu.store(head + 8, 1);  // the callback's address
  own.next.append(cpu, head, head);
  interrupts_->enable_softirqs(cpu);
}

void TickDrivenRcu::synchronize(Cpu& cpu) {
  readers_.refuse_inside(cpu, "synchronize()");
  if (interrupts_->in_handler(cpu) || interrupts_->in_softirq(cpu)) throw ModelFailure("rcu: synchronize() in an interrupt");
  const OfCpu& own = of(cpu);
  cpu.store(own.completed, 0);
  call(cpu, own.completion_head, [&own](Cpu& on) { on.store(own.completed, 1); });
  count_quiescent_state(cpu);
  const FunctionScope scope(cpu, idle_);
  cpu.spin_until(own.completed, [](Value completed) { return completed != 0; });
}

void TickDrivenRcu::process_callbacks(Cpu& cpu) {
  const FunctionScope scope(cpu, process_function_);
  const OfCpu& own = of(cpu);
  if (!own.current.empty(cpu)) {
    const Value batch = cpu.load(own.batch);
    if (batch < grace_periods_->current(cpu)) own.current.move_to(cpu, own.done);
  }
  const bool has_current = !own.current.empty(cpu);
  if (!has_current && !own.next.empty(cpu)) {
    own.next.move_to(cpu, own.current);
    const Value batch = grace_periods_->request_next(cpu);
    cpu.store(own.batch, batch);
  }
  check_quiescent_state(cpu);
  run_done(cpu);
}

// The first check only notices the grace period. Quiescent states before that may precede the grace period, so they don't
// count.
void TickDrivenRcu::check_quiescent_state(Cpu& cpu) {
  if (!grace_periods_->waits_for(cpu)) return;
  const OfCpu& own = of(cpu);
  const Value seen = cpu.load(own.seen);
  const Value passed = cpu.load(own.quiescent_states);
  if (seen == kNoneSeen) {
    cpu.store(own.seen, passed);
  } else if (seen != passed) {
    cpu.store(own.seen, kNoneSeen);
    const Tick from = cpu.local_time();
    grace_periods_->passed(cpu);
    of(cpu).reports.add(cpu, from);
  }
}

void TickDrivenRcu::run_done(Cpu& cpu) {
  OfCpu& own = of(cpu);
  std::int64_t ran = 0;
  while (ran < batch_limit_ && !own.done.empty(cpu)) {
    run_one(cpu, own.done.take_first(cpu));
    ++ran;
  }
  if (ran == batch_limit_ && !excess_to_thread_ && !own.done.empty(cpu)) interrupts_->raise(cpu, softirq_);
  if (ran == 0) return;
  own.batches.push_back({cpu.local_time(), ran});
  if (cpu.measures(cpu.local_time())) own.largest_batch = std::max(own.largest_batch, ran);
}

// A softirq may run callbacks of the same list between two of these.
std::int64_t TickDrivenRcu::run_excess(Cpu& cpu, const std::function<bool()>& stop) {
  OfCpu& own = of(cpu);
  std::int64_t ran = 0;
  while (!stop()) {
    interrupts_->disable_softirqs(cpu);
    const Address head = own.done.empty(cpu) ? 0 : own.done.take_first(cpu);
    interrupts_->enable_softirqs(cpu);
    if (head == 0) break;
    run_one(cpu, head);
    ++ran;
  }
  return ran;
}

void TickDrivenRcu::run_one(Cpu& cpu, Address head) {
  OfCpu& own = of(cpu);
  const auto found = own.queued.find(head);
  if (found == own.queued.end())
    throw ModelFailure(fmt::format("rcu: 0x{:x} comes out of a list of CPU {} that it was not put in", head, cpu.id().value));
  const OfCpu::Queued queued = std::move(found->second);
  own.queued.erase(found);  // the callback may queue the object again
  cpu.load(head + 8);
  readers_.check_gone(queued.since);
  if (cpu.measures(cpu.local_time())) {
    ++own.callbacks;
    own.waited_ns += cpu.to_ns(cpu.local_time() - queued.since);
  }
  queued.callback(cpu);
}

std::vector<CallbackBatch> TickDrivenRcu::batches() const {
  std::vector<CallbackBatch> all;
  for (const OfCpu& own : cpus_) all.insert(all.end(), own.batches.begin(), own.batches.end());
  std::ranges::stable_sort(all, [](const CallbackBatch& a, const CallbackBatch& b) { return a.at < b.at; });
  return all;
}

void TickDrivenRcu::report(MetricSink& metrics) const {
  grace_periods_->times().report(metrics);
  CallbackFigures all;
  for (const OfCpu& own : cpus_) {
    all.callbacks += own.callbacks;
    all.largest_batch = std::max(all.largest_batch, own.largest_batch);
    all.most_queued = std::max(all.most_queued, static_cast<std::int64_t>(own.most_queued));
    all.waited_ns += own.waited_ns;
  }
  all.report(metrics);
}

void TickDrivenRcu::report_reports(MetricSink& metrics) const {
  QuiescenceReports all;
  for (const OfCpu& own : cpus_) all.add(own.reports);
  all.report(grace_periods_->times().ended(), metrics);
}

}  // namespace

void report_rcu(const Rcu* rcu, MetricSink& metrics) {
  if (rcu != nullptr) return rcu->report(metrics);
  GracePeriodTimes().report(metrics);
  CallbackFigures().report(metrics);
}

std::unique_ptr<Rcu> make_classic_rcu(const WorkloadSetup& setting, Interrupts& interrupts, const RcuOptions& options) {
  return std::make_unique<TickDrivenRcu>(setting, interrupts, options, std::make_unique<ControlBlock>(setting, options));
}

std::unique_ptr<Rcu> make_tree_rcu(const WorkloadSetup& setting, Interrupts& interrupts, const RcuOptions& options,
                                   const TreeRcuOptions& tree) {
  return std::make_unique<TickDrivenRcu>(setting, interrupts, options, std::make_unique<NodeTree>(setting, options, tree));
}

void RcuOptions::bind(ParameterBinder& parameters) {
  parameters.number("rcu_tick_us", tick_us, 1, 1e6,
                    "between two clock ticks of a CPU, which drive RCU's grace periods (Linux 2.4: 10000, 2.6: 1000)");
  parameters.number("rcu_batch_limit", batch_limit, 0, 1e9,
                    "callbacks that run before other softirqs have their turn; 0: any number (Linux 2.6.9: 10)");
}

void TreeRcuOptions::bind(ParameterBinder& parameters) {
  parameters.number("rcu_leaf_fanout", leaf_fanout, 1, 64, "hierarchical RCU: CPUs that report to one leaf (Linux: 16)");
  parameters.number("rcu_fanout", fanout, 2, 64, "hierarchical RCU: nodes that report to one above the leaves (Linux: 64)");
}

}  // namespace linebounce::workloads
