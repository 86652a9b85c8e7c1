// Every CPU looks up paths below one mount. A walk takes a reference to the mount at its beginning (mntget() in path_lookup())
// and drops it at its end (mntput() in path_release()). In between it reads the mount's root and flags, which share the count's
// line (struct vfsmount of Linux 2.6.13).
#include <optional>

#include "workloads/counters/counter_registry.hpp"
#include "workloads/counters/counter_trial.hpp"
#include "workloads/linux24/kernel/kernel_base.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kMountWalks = 0;  // tally

// Fields of a mount other than its count.
constexpr int kRoot = 16;
constexpr int kFlags = 24;

struct VfsmountRefcountOptions {
  std::string mount_count = "atomic";
  std::int64_t walk_cycles = 3000;
  std::int64_t outside_cycles = 10000;
  RcuOptions rcu;

  void bind(ParameterBinder& parameters) {
    counter_parameter(parameters, "mount_count", mount_count, "how references of the mount are counted", {.references = true});
    parameters.number("walk_cycles", walk_cycles, 0, 1e9, "mean computed for a path's components");
    parameters.number("outside_cycles", outside_cycles, 0, 1e9, "mean computed between two walks, in user mode");
    rcu.bind(parameters);
  }
};

class VfsmountRefcount final : public Workload {
 public:
  explicit VfsmountRefcount(const Parameters& parameters) : options_(read_options<VfsmountRefcountOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override {
    seed_ = setting.seed;
    kernel_ = std::make_unique<KernelBase>(setting, options_.rcu, setting.memory.line_bytes());
    const int line = setting.memory.line_bytes();
    const Layout mount{.name = "vfsmount",
                       .size = 2 * line,
                       .fields = {{"mnt_count", 0, kCounterBytes}, {"mnt_root", kRoot}, {"mnt_flags", kFlags}}};
    mount_ = setting.memory.place(mount, "mount", line);
    const CounterEntry& entry = find_counter(options_.mount_count, setting.counters);
    const CounterPlace place = kernel_->counter_place("mount_count", mount_);
    count_ = entry.create_reference_count(place);
    trials_.emplace(setting).add(entry, place, true);
    lookup_ = setting.memory.function("path_lookup", Mode::kernel);
    release_ = setting.memory.function("path_release", Mode::kernel);
  }

  void run(Cpu& cpu) override {
    kernel_->rcu().start(cpu);
    trials_->run(cpu);
    Random random(seed_, static_cast<std::uint64_t>(cpu.id().value), 0);
    for (;;) {
      const std::int64_t outside = KernelBase::around(random, options_.outside_cycles);
      const std::int64_t walk = KernelBase::around(random, options_.walk_cycles);
      kernel_->compute_in_user_mode(cpu, outside + 1);
      {
        const FunctionScope scope(cpu, lookup_);
        count_->get(cpu);
        cpu.load(mount_ + kRoot);
        cpu.compute(walk);
        cpu.load(mount_ + kFlags);
      }
      const FunctionScope scope(cpu, release_);
      count_->put(cpu);
      cpu.tally(kMountWalks);
    }
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override { report_throughput(facts, kMountWalks, metrics); }

 private:
  VfsmountRefcountOptions options_;
  std::uint64_t seed_ = 0;
  std::unique_ptr<KernelBase> kernel_;
  std::unique_ptr<ReferenceCount> count_;
  std::optional<CounterTrials> trials_;
  Address mount_ = 0;
  FunctionId lookup_ = 0, release_ = 0;
};

}  // namespace

WorkloadEntry vfsmount_refcount_workload() {
  return {"vfsmount_refcount",
          "Path walks that each touch the mount's reference count",
          declare<VfsmountRefcountOptions>(),
          make_workload<VfsmountRefcount>,
          {headlines::kOperations, headlines::kLatency}};
}

}  // namespace linebounce::workloads
