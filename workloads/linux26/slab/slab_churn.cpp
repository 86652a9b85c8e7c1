// Every CPU allocates objects, writes to them, and hands each to a random CPU, which reads and frees it. I/O that is submitted
// on one CPU and completed on another uses the allocator in the same way (OLS 2007, section 4.6).
#include <optional>
#include <unordered_map>

#include "workloads/linux26/kernel/kernel.hpp"
#include "workloads/linux26/kernel/mailboxes.hpp"
#include "workloads/linux26/slab/slab.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/times.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kObjects = 0;  // tally

struct SlabChurnOptions {
  std::string layout = "linux_2_6_20";
  Kernel::Options kernel;
  SlabOptions allocator;
  std::uint64_t allocated_on_other_node_pct = 0;
  std::uint64_t freed_on_same_cpu_pct = 0;
  double between_us = 2;

  void bind(ParameterBinder& parameters) {
    parameters.text("layout", layout, "where the structures' fields are");
    spin_lock_parameter(parameters, kernel.lock);
    parameters.text("allocator", allocator.variant, "which allocator", slab_variant_names());
    parameters.number("alien_limit", allocator.alien_limit, 1, 13,
                      "objects of another node that a node gathers before it sends them home");
    parameters.flag("refill_from_remote_frees", allocator.refill_from_remote_frees,
                    "slab_numa: an empty array takes what waits to be sent to other nodes");
    parameters.number("allocated_on_other_node_pct", allocated_on_other_node_pct, 0, 100,
                      "objects that a policy puts on the next node");
    parameters.number("freed_on_same_cpu_pct", freed_on_same_cpu_pct, 0, 100,
                      "objects that are not handed to another CPU; the others go to one of all");
    parameters.number("between_us", between_us, 0, 1e6, "a CPU's mean time between two allocations");
  }
};

class SlabChurn final : public Workload {
 public:
  explicit SlabChurn(const Parameters& parameters) : options_(read_options<SlabChurnOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override {
    kernel_.emplace(setting, options_.kernel);
    allocator_.emplace(*kernel_, options_.allocator);
    constexpr int kObjectsOfCpu = 512;  // more than a CPU's array and the objects in flight need
    cache_ = &allocator_->create_cache("churned", kObjectsOfCpu * setting.machine.cpus);
    mailboxes_.emplace(*kernel_, "completions");
    link_ = kernel_->field("churned", "link");
    data_ = kernel_->field("churned", "data");
    for (const Object& object : cache_->objects()) objects_[object.at(link_, 0)] = object;
    submit_ = kernel_->function("submit");
    complete_ = kernel_->function("complete");
    between_cycles_ = cycles(options_.between_us, setting.machine);
  }

  void run(Cpu& cpu) override {
    kernel_->interrupts().start(cpu);
    Random random(kernel_->seed(), static_cast<std::uint64_t>(cpu.id().value), 0);
    for (;;) {
      compute_about(cpu, random, between_cycles_);
      submit(cpu, random);
      complete(cpu);
    }
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override { report_throughput(facts, kObjects, metrics); }

 private:
  void submit(Cpu& cpu, Random& random) {
    const FunctionScope scope(cpu, submit_);
    const bool elsewhere = random.below(100) < options_.allocated_on_other_node_pct;
    const int node = kernel_->node_of(cpu.id().value) + 1;
    const Object object = elsewhere ? cache_->alloc_on(cpu, node % kernel_->nodes()) : cache_->alloc(cpu);
    object.store(cpu, data_, 1);
    const bool same = random.below(100) < options_.freed_on_same_cpu_pct;
    const auto any = static_cast<int>(random.below(static_cast<std::uint64_t>(kernel_->cpus())));
    mailboxes_->send(cpu, same ? cpu.id().value : any, object.at(link_, cpu));
  }

  void complete(Cpu& cpu) {
    const FunctionScope scope(cpu, complete_);
    for (Address link = mailboxes_->take_all(cpu); link != 0;) {
      const Object& object = objects_.at(link);
      link = cpu.load(link);
      object.load(cpu, data_);
      cache_->free(cpu, object);
      cpu.tally(kObjects);
    }
  }

  SlabChurnOptions options_;
  std::int64_t between_cycles_ = 0;
  std::optional<Kernel> kernel_;
  std::optional<SlabAllocator> allocator_;
  SlabCache* cache_ = nullptr;
  std::optional<Mailboxes> mailboxes_;
  FieldPlace link_, data_;
  std::unordered_map<Address, Object> objects_;  // by the address of their link
  FunctionId submit_ = 0, complete_ = 0;
};

}  // namespace

WorkloadEntry slab_churn_workload() {
  return {"slab_churn",
          "Objects that are allocated on one CPU and freed on another",
          declare<SlabChurnOptions>(),
          make_workload<SlabChurn>,
          {headlines::kOperations, headlines::kLatency, headlines::kLocal}};
}

}  // namespace linebounce::workloads
