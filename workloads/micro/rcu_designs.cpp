// How RCU developed: the same readers and updaters under the kernel's classic and hierarchical RCU, which detect quiescent
// states at clock ticks; under SRCU, whose readers count themselves; and under QSBR of user-mode programs, whose readers
// announce quiescent states. Measures what readers, updaters and grace periods cost.
//
// All CPUs read; the first `updaters` also replace what is read. Every reader checks that it never sees freed data.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "models/failure.hpp"
#include "workloads/program/random.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/times.hpp"
#include "workloads/program/workload_entry.hpp"
#include "workloads/rcu/grace_periods.hpp"
#include "workloads/rcu/rcu.hpp"
#include "workloads/rcu/synchronous_rcu.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kRcuReads = 0;                 // tally
constexpr std::uint64_t kDesignsStream = 3;  // the stream of random numbers
constexpr Value kSeen = 1, kFreedObject = 0xDEAD;
constexpr Address kObjectState = 0, kObjectHead = 8;

struct RcuDesignsOptions {
  std::string design = "tree";
  std::string updates = "synchronize";
  std::int64_t updaters = 0;
  std::int64_t objects = 64;
  std::int64_t objects_per_cpu = 64;
  std::int64_t reads_per_round = 10;
  std::int64_t section_cycles = 300;
  std::int64_t outside_cycles = 3000;
  double between_updates_us = 100;
  RcuOptions rcu;
  TreeRcuOptions tree;
  RcuMistakeOption mistake;

  void bind(ParameterBinder& parameters) {
    parameters.text("design", design,
                    "Linux 2.6.0's with one lock; the hierarchical one; sleepable RCU; quiescent states stated in user mode",
                    {"classic", "tree", "srcu", "qsbr"});
    parameters.text("updates", updates, "an updater waits for the grace period itself, or leaves a callback (classic, tree)",
                    {"synchronize", "call"});
    parameters.number("updaters", updaters, 0, 1e6, "CPUs that update, from 0 on; 0: all");
    parameters.number("objects", objects, 1, 1e5, "that readers choose from");
    parameters.number("objects_per_cpu", objects_per_cpu, 1, 1e5, "memory of an updater for new ones; without any it waits");
    parameters.number("reads_per_round", reads_per_round, 1, 1e6,
                      "sections between two quiescent states that a program states");
    parameters.number("section_cycles", section_cycles, 0, 1e9, "mean computation in a reader's section");
    parameters.number("outside_cycles", outside_cycles, 0, 1e9, "mean computation in user mode after a section");
    parameters.number("between_updates_us", between_updates_us, 0, 1e6, "mean time that an updater reads between two updates");
    rcu.bind(parameters);
    parameters.flag("rcu_ticks_together", rcu.ticks_together,
                    "the CPUs' clock ticks come at the same time (Linux since 2.6.36), in place of one after the other");
    tree.bind(parameters);
    mistake.bind(parameters);
  }
};

// What one CPU counted in the measured time.
struct Times {
  double ns = 0, longest_ns = 0;
  std::int64_t times = 0;

  void add(double took_ns) {
    ns += took_ns;
    longest_ns = std::max(longest_ns, took_ns);
    ++times;
  }
  void add(const Times& other) {
    ns += other.ns;
    longest_ns = std::max(longest_ns, other.longest_ns);
    times += other.times;
  }
};

class RcuDesigns final : public Workload {
 public:
  explicit RcuDesigns(const Parameters& parameters) : options_(read_options<RcuDesignsOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override;
  void run(Cpu& cpu) override;
  void report(const RunFacts& facts, MetricSink& metrics) const override;

 private:
  struct OfCpu {
    std::vector<Address> free;
    // The function names of a reader's entry and exit, of a quiescent state, and of synchronize()
    Times entering, stating, waiting;
    std::int64_t short_of_memory = 0;
  };
  OfCpu& of(const Cpu& cpu) { return cpus_[cpu.id().value]; }

  void make_rcu(const WorkloadSetup& setting);
  [[nodiscard]] bool updates(const Cpu& cpu) const { return options_.updaters == 0 || cpu.id().value < options_.updaters; }
  int enter(Cpu& cpu);
  void leave(Cpu& cpu, int section);
  void state_quiescence(Cpu& cpu);
  void synchronize(Cpu& cpu);
  void read(Cpu& cpu, Random& random);
  void update(Cpu& cpu, Random& random);
  static void refuse_freed(Cpu& cpu, Address object);
  void be_outside(Cpu& cpu, Random& random) const;
  void add(const Cpu& cpu, Times& times, Tick from) const;

  RcuDesignsOptions options_;
  std::uint64_t seed_ = 0;
  std::optional<Interrupts> interrupts_;
  std::unique_ptr<Rcu> ticked_;                  // classic or tree
  std::unique_ptr<SynchronousRcu> synchronous_;  // srcu or qsbr
  Address pointers_ = 0;
  Address line_ = 0;
  FunctionId user_ = 0, read_ = 0, update_ = 0;
  std::vector<OfCpu> cpus_;
};

void RcuDesigns::set_up(const WorkloadSetup& setting) {
  seed_ = setting.seed;
  make_rcu(setting);
  user_ = setting.memory.function("user", Mode::user);
  read_ = setting.memory.function("read_object", Mode::kernel);
  update_ = setting.memory.function("replace_object", Mode::kernel);
  line_ = static_cast<Address>(setting.memory.line_bytes());
  const auto line = static_cast<std::int64_t>(line_);
  pointers_ = setting.memory.place_array("pointers", options_.objects * line);
  const Address first = setting.memory.place_array("first_objects", options_.objects * line);
  for (std::int64_t i = 0; i < options_.objects; ++i) {
    const auto at = static_cast<Address>(i) * line_;
    setting.memory.preset(pointers_ + at, first + at);
    setting.memory.preset(first + at + kObjectState, kSeen);
  }
  cpus_.resize(setting.machine.cpus);
  for (std::size_t cpu = 0; cpu < cpus_.size(); ++cpu) {
    const Home home = Home::near(setting.layout.cpus[cpu]);
    const Address objects = setting.memory.place_array(fmt::format("objects[{}]", cpu), options_.objects_per_cpu * line, home);
    for (std::int64_t i = 0; i < options_.objects_per_cpu; ++i)
      cpus_[cpu].free.push_back(objects + static_cast<Address>(i) * line_);
  }
}

void RcuDesigns::make_rcu(const WorkloadSetup& setting) {
  const RcuMistake mistake = options_.mistake.mistake();
  if (options_.design == "srcu" || options_.design == "qsbr") {
    if (options_.updates == "call") throw std::invalid_argument("updates = \"call\" is for the designs classic and tree");
    synchronous_ =
        options_.design == "srcu" ? make_srcu(setting, {.mistake = mistake}) : make_qsbr(setting, {.mistake = mistake});
    return;
  }
  if (mistake == RcuMistake::no_barrier)
    throw std::invalid_argument("mistake = \"no_barrier\" is for the designs srcu and qsbr: readers of the others have none");
  interrupts_.emplace(setting.machine.cpus);
  options_.rcu.mistake = mistake;
  ticked_ = options_.design == "classic" ? make_classic_rcu(setting, *interrupts_, options_.rcu)
                                         : make_tree_rcu(setting, *interrupts_, options_.rcu, options_.tree);
}

void RcuDesigns::run(Cpu& cpu) {
  ticked_ ? ticked_->start(cpu) : synchronous_->start(cpu);
  Random random(seed_, static_cast<std::uint64_t>(cpu.id().value), kDesignsStream);
  const bool updater = updates(cpu);
  double next_update_ns = cpu.now_ns();
  for (;;) {
    for (std::int64_t i = 0; i < options_.reads_per_round; ++i) {
      read(cpu, random);
      be_outside(cpu, random);
    }
    state_quiescence(cpu);
    if (!updater || cpu.now_ns() < next_update_ns) continue;
    update(cpu, random);
    const auto pause = static_cast<double>(draw_about(random, std::llround(options_.between_updates_us * 1000)));
    next_update_ns = cpu.now_ns() + pause;
  }
}

void RcuDesigns::add(const Cpu& cpu, Times& times, Tick from) const {
  const Tick now = cpu.local_time();
  if (cpu.measures(now)) times.add(cpu.to_ns(now - from));
}

int RcuDesigns::enter(Cpu& cpu) {
  const Tick from = cpu.now();
  int section = 0;
  if (ticked_)
    ticked_->read_lock(cpu);
  else
    section = synchronous_->read_lock(cpu);
  add(cpu, of(cpu).entering, from);
  return section;
}

void RcuDesigns::leave(Cpu& cpu, int section) {
  const Tick from = cpu.now();
  ticked_ ? ticked_->read_unlock(cpu) : synchronous_->read_unlock(cpu, section);
  add(cpu, of(cpu).entering, from);
}

void RcuDesigns::state_quiescence(Cpu& cpu) {
  const Tick from = cpu.now();
  ticked_ ? ticked_->quiescent(cpu) : synchronous_->quiescent(cpu);
  add(cpu, of(cpu).stating, from);
}

void RcuDesigns::synchronize(Cpu& cpu) {
  const Tick from = cpu.now();
  ticked_ ? ticked_->synchronize(cpu) : synchronous_->synchronize(cpu);
  add(cpu, of(cpu).waiting, from);
}

void RcuDesigns::read(Cpu& cpu, Random& random) {
  const FunctionScope scope(cpu, read_);
  const std::uint64_t which = random.below(static_cast<std::uint64_t>(options_.objects));
  const int section = enter(cpu);
  const Address object = cpu.load(pointers_ + which * line_);
  refuse_freed(cpu, object);
  compute_about(cpu, random, options_.section_cycles);
  refuse_freed(cpu, object);
  leave(cpu, section);
  cpu.tally(kRcuReads);
}

void RcuDesigns::refuse_freed(Cpu& cpu, Address object) {
  if (cpu.load(object + kObjectState) == kFreedObject)
    throw ModelFailure(fmt::format("rcu_designs: CPU {} reads object 0x{:x}, which has been freed", cpu.id().value, object));
}

// A clock tick may interrupt this computation; it then finds user code.
void RcuDesigns::be_outside(Cpu& cpu, Random& random) const {
  const FunctionScope scope(cpu, user_);
  compute_about(cpu, random, options_.outside_cycles);
  cpu.now();
}

void RcuDesigns::update(Cpu& cpu, Random& random) {
  const FunctionScope scope(cpu, update_);
  OfCpu& own = of(cpu);
  while (own.free.empty()) {
    ++own.short_of_memory;
    synchronize(cpu);
  }
  const Address fresh = own.free.back();
  own.free.pop_back();
  const std::uint64_t which = random.below(static_cast<std::uint64_t>(options_.objects));
  cpu.store(fresh + kObjectState, kSeen);
  const Address old = cpu.exchange(pointers_ + which * line_, fresh);
  const auto free = [&own, old](Cpu& on) {
    on.store(old + kObjectState, kFreedObject);
    own.free.push_back(old);
  };
  if (options_.updates == "call") {
    ticked_->call(cpu, old + kObjectHead, free);
  } else {
    synchronize(cpu);
    free(cpu);
  }
}

void RcuDesigns::report(const RunFacts& facts, MetricSink& metrics) const {
  report_throughput(facts, kRcuReads, metrics);
  Times entering;
  Times stating;
  Times waiting;
  std::int64_t short_of_memory = 0;
  for (const OfCpu& own : cpus_) {
    entering.add(own.entering);
    stating.add(own.stating);
    waiting.add(own.waiting);
    short_of_memory += own.short_of_memory;
  }
  metrics.mean("rcu.reader_mean_ns", "ns", kLower, "what a reader pays to enter and leave its section, mean", entering.ns * 2,
               entering.times);  // times of two calls
  metrics.mean("rcu.quiescent_mean_ns", "ns", kLower, "what a program pays to state a quiescent state, mean", stating.ns,
               stating.times, kDetail);
  metrics.mean("rcu.synchronize_mean_us", "us", kLower, "how long an updater waits for a grace period, mean", waiting.ns / 1000,
               waiting.times);
  metrics.value("rcu.synchronize_max_us", "us", kLower, "the longest wait of an updater",
                waiting.times > 0 ? std::optional(waiting.longest_ns / 1000) : std::nullopt, kDetail);
  metrics.count("rcu.waits_for_memory", "", kLower,
                "waits for a grace period because there was no free memory, in the whole run", short_of_memory, kDetail);
  synchronous_ ? synchronous_->report(metrics) : report_rcu(ticked_.get(), metrics);
  if (synchronous_) return synchronous_->report_reports(metrics);
  ticked_ ? ticked_->report_reports(metrics) : QuiescenceReports().report(0, metrics);
}

}  // namespace

WorkloadEntry rcu_designs_workload() {
  return {"rcu_designs",
          "Readers and updaters under classic, hierarchical, sleepable and user-mode RCU",
          declare<RcuDesignsOptions>(),
          make_workload<RcuDesigns>,
          {{"rcu.grace_period_mean_us", "grace period"}, {"rcu.reader_mean_ns", "reader"}, headlines::kOperations}};
}

}  // namespace linebounce::workloads
