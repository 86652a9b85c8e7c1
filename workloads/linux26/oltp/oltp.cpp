// The OLTP load of OLS 2007: a database's processes on all CPUs, on parts of the kernel 2.6.20 (scheduler, timers, slab, AIO,
// block, SCSI). A session computes, reads blocks and waits for each, then commits with others. Writers keep batches of writes
// in flight. Processes stay on their CPUs and submit to all disks; an adapter interrupts its CPUs in turn.
//
// Homes are taken from the addresses in the paper's figures: disks' structures are on the first node, adapters' on the second,
// and the objects of a CPU or process on its node.
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "workloads/linux26/oltp/handed_submission.hpp"
#include "workloads/linux26/oltp/process.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr double kNsOfUs = 1000;

struct OltpOptions {
  Kernel::Options kernel{.base_cpi = 0.75};
  SchedulerOptions scheduler;
  TimerOptions timers;
  SlabOptions slab{.interleaved_pct = 10};
  BlockOptions block;
  OtherMemoryShape user{
      .shared = 1, .node_shared = 20, .local_memory = 20, .remote_memory = 8, .shared_lines = 4000, .node_lines = 4000};
  OtherMemoryShape other{
      .shared = 10, .node_shared = 2, .local_memory = 4, .remote_memory = 2, .shared_lines = 8000, .node_lines = 4000};
  std::string layout = "linux_2_6_20";
  int sessions_per_cpu = 24;
  int reads_per_transaction = 2;
  int commit_group = 4;
  int sessions_per_semaphore = 12;
  std::int64_t user_instructions = 90000;
  std::int64_t writer_instructions = 20000;
  std::int64_t other_kernel_instructions = 4000;
  double user_base_cpi = 1;
  int writers = 2;
  int writer_depth = 48;
  int writer_batch = 32;
  int writer_contexts = 1;
  int devices = 96;
  int adapters = 16;
  int interrupt_cpus_of_first_node = 2;
  int interrupt_cpus_of_second_node = 1;
  double service_us = 1500;
  std::string sibling_check = "always";
  bool submit_where_interrupted = false;

  void bind(ParameterBinder& parameters) {
    parameters.text("layout", layout, "the structures, a file of configs/layouts");
    spin_lock_parameter(parameters, kernel.lock);
    parameters.number("sessions_per_cpu", sessions_per_cpu, 1, 1000, "users' processes of each CPU");
    parameters.number("reads_per_transaction", reads_per_transaction, 0, 1000,
                      "blocks that a session reads and waits for, before it commits");
    parameters.number("commit_group", commit_group, 1, 1000, "sessions that commit with one write of the log");
    parameters.number("sessions_per_semaphore", sessions_per_semaphore, 1, 1000,
                      "sessions that commit through one semaphore set");
    parameters.number("user_instructions", user_instructions, 1, 1e9, "of the database from one read to the next, mean");
    parameters.number("writer_instructions", writer_instructions, 1, 1e9, "of a writer from one batch to the next, mean");
    parameters.number("other_kernel_instructions", other_kernel_instructions, 0, 1e9,
                      "of the kernel beside the subsystems simulated, for each submission");
    parameters.number("user_base_cpi", user_base_cpi, 0, 100, "cycles of an instruction that misses no cache");
    parameters.number("kernel_base_cpi", kernel.base_cpi, 0, 100, "cycles of an instruction that misses no cache");
    parameters.number("writers", writers, 0, 1000, "processes that write changed blocks");
    parameters.number("writer_depth", writer_depth, 1, 100, "writes that each keeps under way, in all its contexts together");
    parameters.number("writer_batch", writer_batch, 1, 100, "writes that each submits at once");
    parameters.number("writer_contexts", writer_contexts, 1, 16, "AIO contexts of each; every batch is divided over them");
    parameters.number("devices", devices, 1, 1000, "disks");
    parameters.number("adapters", adapters, 1, 100, "that the disks are divided over");
    parameters.number("interrupt_cpus_of_first_node", interrupt_cpus_of_first_node, 0, 64,
                      "CPUs of the first node that each adapter interrupts, in turn with the second's");
    parameters.number("interrupt_cpus_of_second_node", interrupt_cpus_of_second_node, 0, 64, "CPUs of the second node");
    parameters.number("service_us", service_us, 0, 1e6, "of a disk, from command to interrupt, mean");
    parameters.number("jiffy_us", timers.jiffy_us, 0, 1e6, "from one tick to the next");
    parameters.number("interleaved_pct", slab.interleaved_pct, 0, 100,
                      "allocations of processes that their memory policy sends to another node");
    parameters.number("user_shared_misses", user.shared, 0, 1000, "of user code between two reads: lines that all CPUs write");
    parameters.number("user_node_misses", user.node_shared, 0, 1000, "lines that the node's CPUs write");
    parameters.number("user_local_memory_misses", user.local_memory, 0, 1000, "the node's memory");
    parameters.number("user_remote_memory_misses", user.remote_memory, 0, 1000, "the other node's memory");
    parameters.number("user_shared_lines", user.shared_lines, 1, 1e6, "lines that all CPUs write");
    parameters.number("user_node_lines", user.node_lines, 1, 1e6, "lines that a node's CPUs write");
    parameters.number("other_shared_misses", other.shared, 0, 1000,
                      "of the other kernel code, for each submission: lines that all CPUs write");
    parameters.number("other_node_misses", other.node_shared, 0, 1000, "lines that the node's CPUs write");
    parameters.number("other_local_memory_misses", other.local_memory, 0, 1000, "the node's memory");
    parameters.number("other_remote_memory_misses", other.remote_memory, 0, 1000, "the other node's memory");
    parameters.number("other_shared_lines", other.shared_lines, 1, 1e6, "lines that all CPUs write");
    parameters.number("other_node_lines", other.node_lines, 1, 1e6, "lines that a node's CPUs write");
    parameters.text("sibling_check", sibling_check, "whether a wake-up looks at the sibling of a busy CPU",
                    {"always", "unless_several_run"});
    parameters.flag("pinned", scheduler.pinned, "processes stay on their CPUs; else load balancing moves them");
    parameters.flag("batch_timer_deletes", timers.batch_deletes,
                    "a timer of another CPU is marked, and taken off in that CPU's own time");
    parameters.flag("prefetch_timer_locks", timers.prefetch_locks,
                    "completion asks for the locks of all timers that it is about to delete");
    parameters.text("slab", slab.variant, "the allocator of small objects", slab_variant_names());
    parameters.number("alien_limit", slab.alien_limit, 1, 60,
                      "freed objects of another node that are gathered before they are sent home");
    parameters.flag("refill_from_remote_frees", slab.refill_from_remote_frees,
                    "a CPU's array is filled from objects that wait to be sent home");
    parameters.flag("plug", block.plug, "disks' queues are plugged, with a timer that unplugs them");
    parameters.flag("adjust_queue_depth_check", block.adjust_queue_depth_check,
                    "completion reads the disk's queue depth; else a flag of the adapter");
    parameters.flag("submit_where_interrupted", submit_where_interrupted,
                    "an I/O is handed to one of the CPUs that its adapter interrupts, which submits it and is interrupted");
    parameters.flag("complete_on_submitter", block.complete_on_submitter,
                    "an adapter interrupts the CPU that has submitted (a queue for each CPU)");
  }
};

class Oltp final : public Workload {
 public:
  explicit Oltp(const Parameters& parameters) : options_(read_options<OltpOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override;
  void run(Cpu& cpu) override;
  void report(const RunFacts& facts, MetricSink& metrics) const override;

 private:
  [[nodiscard]] IoTopology topology() const;
  void place_system(const WorkloadSetup& setting);
  void place_processes(std::uint64_t seed);

  OltpOptions options_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<Timers> timers_;
  std::unique_ptr<SlabAllocator> slab_;
  std::unique_ptr<Aio> aio_;
  std::unique_ptr<BlockLayer> block_;
  std::unique_ptr<HandedSubmission> handed_;
  std::unique_ptr<OtherMemory> user_memory_, kernel_memory_;
  std::unique_ptr<OltpSystem> system_;
  std::deque<CommitGroup> groups_;
  std::vector<std::unique_ptr<Process>> processes_;  // by task number
  std::vector<std::vector<Process*>> by_cpu_;
  int tick_vector_ = 0;
};

void Oltp::set_up(const WorkloadSetup& setting) {
  kernel_ = std::make_unique<Kernel>(setting, options_.kernel);
  SchedulerOptions scheduling = options_.scheduler;
  scheduling.sibling_check_always = options_.sibling_check == "always";
  scheduler_ = std::make_unique<Scheduler>(*kernel_, scheduling);
  timers_ = std::make_unique<Timers>(*kernel_, options_.timers);
  slab_ = std::make_unique<SlabAllocator>(*kernel_, options_.slab);
  place_system(setting);
  place_processes(setting.seed);
  tick_vector_ = kernel_->interrupts().add_handler([this](Cpu& cpu, FunctionId interrupted) {
    cpu.set_timer(timers_->jiffy_us() * kNsOfUs, tick_vector_);
    timers_->tick(cpu);
    scheduler_->tick(cpu, interrupted == system_->user ? Mode::user : Mode::kernel);
  });
}

void Oltp::place_system(const WorkloadSetup& setting) {
  Kernel& kernel = *kernel_;
  constexpr int kMostIos = 2048;  // largest number of I/Os in flight, for which the simulation has memory
  aio_ = std::make_unique<Aio>(kernel, *scheduler_, *timers_, *slab_, kMostIos);
  BlockOptions block = options_.block;
  block.topology = topology();
  block.done = [this](Cpu& cpu, Io& io) { aio_->complete(cpu, io); };
  const bool handed = options_.submit_where_interrupted;
  block.complete_on_submitter = handed || block.complete_on_submitter;
  block_ = make_block_layer(kernel, *timers_, *slab_, block);
  if (handed) handed_ = std::make_unique<HandedSubmission>(kernel, *block_, block.topology);
  aio_->use(handed ? *handed_ : *block_);
  user_memory_ = std::make_unique<OtherMemory>(kernel, "user", options_.user, Pace(options_.user_base_cpi, setting.machine));
  kernel_memory_ =
      std::make_unique<OtherMemory>(kernel, "other_kernel", options_.other, Pace(options_.kernel.base_cpi, setting.machine));
  const Object inode = kernel.place("inode_data", "inode_data", 0);
  system_ =
      std::make_unique<OltpSystem>(OltpSystem{.kernel = kernel,
                                              .scheduler = *scheduler_,
                                              .aio = *aio_,
                                              .user_memory = *user_memory_,
                                              .kernel_memory = *kernel_memory_,
                                              .devices = options_.devices,
                                              .user_instructions = options_.user_instructions,
                                              .writer_instructions = options_.writer_instructions,
                                              .kernel_instructions = options_.other_kernel_instructions,
                                              .user = setting.memory.function("user", Mode::user),
                                              .other_kernel = kernel.function("other_kernel"),
                                              .inode = inode,
                                              .inode_lock = &kernel.lock_in(inode, "inode_data", "inode_data", "inode_lock"),
                                              .inode_global = kernel.field("inode_data", "global"),
                                              .buffer = kernel.field("size_1024", "buffer"),
                                              .mark_inode_dirty = kernel.function("__mark_inode_dirty")});
}

IoTopology Oltp::topology() const {
  const int second = kernel_->nodes() > 1 ? 1 : 0;
  IoTopology topology;
  topology.service_us = options_.service_us;
  InterruptTurns turns(*kernel_);
  for (int a = 0; a < options_.adapters; ++a) {
    IoTopology::Adapter adapter{.node = second, .interrupt_cpus = {}};
    turns.give(adapter, 0, options_.interrupt_cpus_of_first_node);
    turns.give(adapter, second, options_.interrupt_cpus_of_second_node);
    topology.adapters.push_back(adapter);
  }
  for (int d = 0; d < options_.devices; ++d) topology.devices.push_back({.adapter = d % options_.adapters, .node = 0});
  return topology;
}

void Oltp::place_processes(std::uint64_t seed) {
  const int cpus = kernel_->cpus();
  const int sessions = cpus * options_.sessions_per_cpu;
  const int group = options_.commit_group;
  const int groups = std::max(1, sessions / std::max(group, options_.sessions_per_semaphore));
  if (sessions / groups < group) {
    throw std::invalid_argument(
        fmt::format("workload.commit_group: {} sessions can't commit in groups of {}", sessions, group));
  }
  for (int i = 0; i < groups; ++i) {
    groups_.emplace_back(*kernel_, *scheduler_, fmt::format("sem_array[{}]", i), i % kernel_->nodes(), group);
  }
  by_cpu_.resize(cpus);
  const auto add = [this](int cpu, std::unique_ptr<Process> process) {
    by_cpu_[cpu].push_back(process.get());
    processes_.push_back(std::move(process));
  };
  for (int i = 0; i < sessions; ++i) {
    const int cpu = i % cpus;
    const Task& task = scheduler_->create_task(fmt::format("session[{}]", i), cpu);
    add(cpu, make_foreground(*system_, task, seed, kernel_->node_of(cpu), options_.reads_per_transaction, groups_[i % groups]));
  }
  const int writers = options_.writers;
  const int nodes = kernel_->nodes();
  for (int i = 0; i < writers; ++i) {  // each node gets the same number of writers, spread over its CPUs
    const std::vector<int> of_node = kernel_->cpus_of(i % nodes);
    const int writers_of_node = (writers + nodes - 1) / nodes;
    const int cpu = of_node[i / nodes * of_node.size() / writers_of_node];
    const Task& task = scheduler_->create_task(fmt::format("writer[{}]", i), cpu);
    add(cpu, make_writer(*system_, task, seed, kernel_->node_of(cpu), options_.writer_contexts, options_.writer_depth,
                         options_.writer_batch));
  }
}

void Oltp::run(Cpu& cpu) {
  kernel_->interrupts().start(cpu);
  // Spreads the CPUs' ticks evenly over a jiffy.
  const double jiffy_ns = timers_->jiffy_us() * kNsOfUs;
  cpu.set_timer(jiffy_ns * (1 + static_cast<double>(cpu.id().value) / kernel_->cpus()), tick_vector_);
  for (Process* process : by_cpu_[cpu.id().value]) scheduler_->try_to_wake_up(cpu, process->task());
  for (;;) {
    if (const Task* task = scheduler_->schedule(cpu)) {
      processes_[task->number]->run(cpu);
    } else {
      scheduler_->idle(cpu);
    }
  }
}

void Oltp::report(const RunFacts& facts, MetricSink& metrics) const {
  report_rate(facts, tallied_by_all(facts, kTransactions), metrics);
  metrics.value("oltp.reads_per_s", "1/s", kHigher, "requests that sessions have submitted",
                per_second(facts, tallied_by_all(facts, kReads)));
  metrics.value("oltp.writes_per_s", "1/s", kHigher, "requests that sessions and writers have submitted",
                per_second(facts, tallied_by_all(facts, kWrites)));
}

}  // namespace

WorkloadEntry oltp_workload() {
  return {"oltp",
          "A database's processes on the scheduler, timers, slab, AIO, block and SCSI layers of Linux 2.6.20",
          declare<OltpOptions>(),
          make_workload<Oltp>,
          {headlines::kOperations, headlines::kLatency, headlines::kLocal}};
}

}  // namespace linebounce::workloads
