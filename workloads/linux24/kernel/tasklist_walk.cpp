// The list of all tasks. Some CPUs walk the whole list (ps, kill); others add and remove tasks (fork, exit). As in Linux 2.6,
// walkers take tasklist_lock as readers, and fork and exit take it as writers. Alternatively, walkers use RCU, and a task is
// freed after a grace period.
#include <fmt/format.h>

#include "models/failure.hpp"
#include "workloads/linux24/kernel/kernel_base.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kListWalks = 0;  // tallies
constexpr int kForks = 1;
constexpr int kExitsPutOff = 2;

constexpr Value kAlive = 1;
constexpr Value kFreed = 0xDEAD;

struct TaskFields {
  static constexpr Address kNext = 0;
  static constexpr Address kPrevious = 8;
  static constexpr Address kState = 16;
  static constexpr Address kHead = 24;  // for RCU
  static constexpr int kBytes = 40;
};

std::string why_no_tasklist_lock(const LockTraits& traits) {
  if (!traits.excludes) return "the list would break";
  if (traits.sleeps) return "it is taken where a task may not sleep";
  if (traits.readers == Readers::read_again) return "a reader follows a list whose tasks may be freed: it can't read again";
  return "";
}

struct TasklistWalkOptions {
  std::string readers = "lock";
  std::string lock = "rwlock";
  std::int64_t tasks_per_cpu = 25;
  std::int64_t spare_tasks_per_cpu = 200;
  std::int64_t walk_pct = 10;
  std::int64_t outside_cycles = 50000;
  std::int64_t task_cycles = 50;
  RcuOptions rcu;

  void bind(ParameterBinder& parameters) {
    parameters.text("readers", readers, "what a walk does: takes the lock shared, or uses RCU", {"lock", "rcu"});
    lock_parameter(parameters, "lock", lock, "tasklist_lock", why_no_tasklist_lock);
    parameters.number("tasks_per_cpu", tasks_per_cpu, 2, 10000, "alive");
    parameters.number("spare_tasks_per_cpu", spare_tasks_per_cpu, 1, 10000,
                      "memory for as many that wait to be freed; a CPU that has none waits for a grace period");
    parameters.number("walk_pct", walk_pct, 0, 100, "walks among walks and forks");
    parameters.number("outside_cycles", outside_cycles, 0, 1e9, "mean computed in user mode between two operations");
    parameters.number("task_cycles", task_cycles, 0, 1e9, "computed for each task of a walk");
    rcu.bind(parameters);
  }
};

class TasklistWalk final : public Workload {
 public:
  explicit TasklistWalk(const Parameters& parameters) : options_(read_options<TasklistWalkOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override;

  void run(Cpu& cpu) override {
    kernel_->rcu().start(cpu);
    Random random(seed_, static_cast<std::uint64_t>(cpu.id().value), 0);
    for (;;) {
      const std::int64_t outside = KernelBase::around(random, options_.outside_cycles);
      const bool walks = random.below(100) < static_cast<std::uint64_t>(options_.walk_pct);
      const std::uint64_t victim = random.next() >> 32;
      kernel_->compute_in_user_mode(cpu, outside + 1);
      if (walks) {
        walk(cpu);
      } else {
        exit_one(cpu, victim);
        fork_one(cpu);
      }
    }
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override;

 private:
  struct OfCpu {
    std::vector<Address> alive, free;
    double walk_ns = 0, fork_ns = 0;
  };
  OfCpu& of(const Cpu& cpu) { return cpus_[cpu.id().value]; }

  void walk(Cpu& cpu);
  void exit_one(Cpu& cpu, std::uint64_t victim);
  void fork_one(Cpu& cpu);
  void preset_list(AddressSpace& memory);

  TasklistWalkOptions options_;
  bool rcu_readers_ = options_.readers == "rcu";
  std::uint64_t seed_ = 0;
  std::unique_ptr<KernelBase> kernel_;
  MeteredLock* lock_ = nullptr;
  Address init_ = 0;  // head of the circular list: the task that never ends
  std::vector<OfCpu> cpus_;
  FunctionId walk_function_ = 0, fork_function_ = 0, exit_function_ = 0;
};

void TasklistWalk::set_up(const WorkloadSetup& setting) {
  seed_ = setting.seed;
  kernel_ = std::make_unique<KernelBase>(setting, options_.rcu, setting.memory.line_bytes());
  lock_ = &setting.locks.create(options_.lock, "tasklist_lock");
  const Layout task{.name = "task_struct",
                    .size = TaskFields::kBytes,
                    .fields = {{"tasks", 0, 16}, {"state", 16}, {"rcu", 24, Rcu::kHeadBytes}}};
  const int line = setting.memory.line_bytes();
  init_ = setting.memory.place(task, "init_task", line);
  cpus_.resize(setting.machine.cpus);
  for (int cpu = 0; cpu < setting.machine.cpus; ++cpu) {
    OfCpu& own = cpus_[cpu];
    const Home home = Home::near(setting.layout.cpus[cpu]);
    for (std::int64_t i = 0; i < options_.tasks_per_cpu + options_.spare_tasks_per_cpu; ++i) {
      const Address at = setting.memory.place(task, fmt::format("task[{}.{}]", cpu, i), line, home);
      (i < options_.tasks_per_cpu ? own.alive : own.free).push_back(at);
    }
  }
  preset_list(setting.memory);
  walk_function_ = setting.memory.function("proc_pid_readdir", Mode::kernel);
  fork_function_ = setting.memory.function("do_fork", Mode::kernel);
  exit_function_ = setting.memory.function("release_task", Mode::kernel);
}

void TasklistWalk::preset_list(AddressSpace& memory) {
  Address last = init_;
  memory.preset(init_ + TaskFields::kState, kAlive);
  for (const OfCpu& own : cpus_) {
    for (const Address task : own.alive) {
      memory.preset(last + TaskFields::kNext, task);
      memory.preset(task + TaskFields::kPrevious, last);
      memory.preset(task + TaskFields::kState, kAlive);
      last = task;
    }
  }
  memory.preset(last + TaskFields::kNext, init_);
  memory.preset(init_ + TaskFields::kPrevious, last);
}

void TasklistWalk::walk(Cpu& cpu) {
  const FunctionScope scope(cpu, walk_function_);
  const Tick begin = cpu.now();
  if (rcu_readers_) {
    kernel_->rcu().read_lock(cpu);
  } else {
    lock_->acquire_shared(cpu);
  }
  for (Address task = cpu.load(init_); task != init_; task = cpu.load(task + TaskFields::kNext)) {
    if (cpu.load(task + TaskFields::kState) == kFreed)
      throw ModelFailure(fmt::format("tasklist_walk: CPU {} sees the freed task 0x{:x}", cpu.id().value, task));
    if (options_.task_cycles > 0) cpu.compute(options_.task_cycles);
  }
  if (rcu_readers_) {
    kernel_->rcu().read_unlock(cpu);
  } else if (!lock_->release_shared(cpu)) {
    throw ModelFailure("tasklist_walk: a reader was let in together with a writer");
  }
  const Tick end = cpu.now();
  cpu.tally(kListWalks);
  if (cpu.measures(end)) of(cpu).walk_ns += cpu.to_ns(end - begin);
}

void TasklistWalk::exit_one(Cpu& cpu, std::uint64_t victim) {
  OfCpu& own = of(cpu);
  // Callbacks of entries that wait for a grace period run on this CPU. If too many are waiting, the CPU waits for memory.
  if (own.free.empty()) {
    cpu.tally(kExitsPutOff);
    kernel_->rcu().synchronize(cpu);
    return;
  }
  const FunctionScope scope(cpu, exit_function_);
  const std::size_t which = victim % own.alive.size();
  const Address task = own.alive[which];
  own.alive[which] = own.alive.back();
  own.alive.pop_back();
  lock_->acquire(cpu);
  const Address next = cpu.load(task + TaskFields::kNext);
  const Address previous = cpu.load(task + TaskFields::kPrevious);
  cpu.store(previous + TaskFields::kNext, next);
  cpu.store(next + TaskFields::kPrevious, previous);
  lock_->release(cpu);
  const auto free = [&own, task](Cpu& on) {
    on.store(task + TaskFields::kState, kFreed);
    own.free.push_back(task);
  };
  if (rcu_readers_) {
    kernel_->rcu().call(cpu, task + TaskFields::kHead, free);
  } else {
    free(cpu);
  }
}

void TasklistWalk::fork_one(Cpu& cpu) {
  OfCpu& own = of(cpu);
  if (std::ssize(own.alive) >= options_.tasks_per_cpu || own.free.empty()) return;
  const FunctionScope scope(cpu, fork_function_);
  const Tick begin = cpu.now();
  const Address task = own.free.back();
  own.free.pop_back();
  cpu.store(task + TaskFields::kState, kAlive);
  lock_->acquire(cpu);
  const Address last = cpu.load(init_ + TaskFields::kPrevious);
  cpu.store(task + TaskFields::kNext, init_);
  cpu.store(task + TaskFields::kPrevious, last);
  cpu.store_release(last + TaskFields::kNext, task);
  cpu.store(init_ + TaskFields::kPrevious, task);
  own.alive.push_back(task);
  lock_->release(cpu);
  const Tick end = cpu.now();
  cpu.tally(kForks);
  if (cpu.measures(end)) own.fork_ns += cpu.to_ns(end - begin);
}

void TasklistWalk::report(const RunFacts& facts, MetricSink& metrics) const {
  const std::int64_t walks = tallied_by_all(facts, kListWalks);
  const std::int64_t forks = tallied_by_all(facts, kForks);
  const std::int64_t deferred = tallied_by_all(facts, kExitsPutOff);
  double walk_ns = 0;
  double fork_ns = 0;
  for (int cpu = 0; cpu < facts.cpus; ++cpu) {
    walk_ns += cpus_[cpu].walk_ns;
    fork_ns += cpus_[cpu].fork_ns;
  }
  report_rate(facts, walks + forks, metrics);
  metrics.value("tasklist.walks_per_s", "1/s", kHigher, "walks through the list of tasks", per_second(facts, walks));
  metrics.value("tasklist.forks_per_s", "1/s", kHigher, "forks", per_second(facts, forks));
  metrics.mean("tasklist.walk_mean_us", "us", kLower, "time of a walk, mean", walk_ns / 1000, walks);
  metrics.mean("tasklist.fork_mean_us", "us", kLower, "time of a fork, mean", fork_ns / 1000, forks);
  metrics.count("tasklist.waits_for_memory", "", kLower, "waits for a grace period because there was no free memory", deferred);
  report_rcu(kernel_ ? &kernel_->rcu() : nullptr, metrics);
}

}  // namespace

WorkloadEntry tasklist_walk_workload() {
  return {"tasklist_walk",
          "Walks over the list of all tasks while other CPUs fork and exit",
          declare<TasklistWalkOptions>(),
          make_workload<TasklistWalk>,
          {{"tasklist.walks_per_s", "walks"}, {"tasklist.walk_mean_us", "walk"}, {"tasklist.fork_mean_us", "fork"}}};
}

}  // namespace linebounce::workloads
