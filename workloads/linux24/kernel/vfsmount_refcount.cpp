// Every CPU looks up paths below one mount. A walk takes a reference of the mount at its beginning (mntget() in path_lookup())
// and drops it at its end (mntput() in path_release()); between them it reads the mount's root and flags, which share the
// count's line (struct vfsmount of Linux 2.6.13).
#include "workloads/counters/counter_registry.hpp"
#include "workloads/linux24/kernel/kernel_base.hpp"
#include "workloads/linux24/kernel/kernel_workloads.hpp"
#include "workloads/program/throughput.hpp"

namespace linebounce::workloads {

namespace {

constexpr int kWalks = 0;  // tally

// Of a mount, beside its count.
constexpr int kRoot = 16;
constexpr int kFlags = 24;

class VfsmountRefcount final : public Workload {
 public:
  explicit VfsmountRefcount(const Parameters& parameters)
      : count_name_(parameters.text("mount_count")),
        walk_cycles_(parameters.integer("walk_cycles")),
        outside_cycles_(parameters.integer("outside_cycles")),
        rcu_parameters_(rcu_parameters(parameters)) {}

  void set_up(const WorkloadSetup& setting) override {
    seed_ = setting.seed;
    kernel_ = std::make_unique<KernelBase>(setting, rcu_parameters_, setting.memory.line_bytes());
    const int line = setting.memory.line_bytes();
    const Layout mount{.name = "vfsmount",
                       .size = 2 * line,
                       .fields = {{"mnt_count", 0, kCounterBytes}, {"mnt_root", kRoot}, {"mnt_flags", kFlags}}};
    mount_ = setting.memory.place(mount, "mount", line);
    count_ = find_counter(count_name_).create_reference_count(kernel_->counter_place("mount_count", mount_));
    lookup_ = setting.memory.function("path_lookup", Mode::kernel);
    release_ = setting.memory.function("path_release", Mode::kernel);
  }

  void run(Cpu& cpu) override {
    kernel_->rcu().start(cpu);
    Random random(seed_, static_cast<std::uint64_t>(cpu.id().value), 0);
    for (;;) {
      const std::int64_t outside = KernelBase::around(random, outside_cycles_);
      const std::int64_t walk = KernelBase::around(random, walk_cycles_);
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
      cpu.tally(kWalks);
    }
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override { report_throughput(facts, kWalks, metrics); }

 private:
  std::string count_name_;
  std::int64_t walk_cycles_, outside_cycles_;
  RcuParameters rcu_parameters_;
  std::uint64_t seed_ = 0;
  std::unique_ptr<KernelBase> kernel_;
  std::unique_ptr<ReferenceCount> count_;
  Address mount_ = 0;
  FunctionId lookup_ = 0, release_ = 0;
};

}  // namespace

std::vector<ParameterDeclaration> vfsmount_refcount_parameters() {
  std::vector<ParameterDeclaration> declarations = {
      {.name = "mount_count",
       .default_value = std::string("atomic"),
       .meaning = "how references of the mount are counted",
       .choices = counter_names(true)},
      {.name = "walk_cycles",
       .default_value = std::int64_t{3000},
       .meaning = "mean computed for a path's components",
       .maximum = 1e9},
      {.name = "outside_cycles",
       .default_value = std::int64_t{10000},
       .meaning = "mean computed between two walks, in user mode",
       .maximum = 1e9},
  };
  for (const ParameterDeclaration& declaration : rcu_parameter_declarations()) declarations.push_back(declaration);
  return declarations;
}

std::unique_ptr<Workload> make_vfsmount_refcount(const Parameters& parameters) {
  return std::make_unique<VfsmountRefcount>(parameters);
}

}  // namespace linebounce::workloads
