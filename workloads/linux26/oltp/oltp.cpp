// The OLTP load of OLS 2007: a database's processes on all CPUs, on a kernel of 2.6.20's parts (scheduler, timers, slab, AIO,
// block, SCSI). A session computes, reads blocks and waits for each, then commits with others; writers keep batches of writes
// under way. Processes stay on their CPUs; each submits to all disks; an adapter interrupts its CPUs in turn.
//
// Homes are those that the figures' addresses show: disks' structures on the first node, adapters' on the second, what belongs
// to a CPU or process on its node.
#include "workloads/linux26/oltp/oltp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "workloads/linux26/oltp/handed_submission.hpp"
#include "workloads/linux26/oltp/process.hpp"
#include "workloads/program/throughput.hpp"

namespace linebounce::workloads {

namespace {

constexpr double kNsOfUs = 1000;

class Oltp final : public Workload {
 public:
  explicit Oltp(const Parameters& parameters) : parameters_(parameters) {}

  void set_up(const WorkloadSetup& setting) override;
  void run(Cpu& cpu) override;
  void report(const RunFacts& facts, MetricSink& metrics) const override;

 private:
  [[nodiscard]] int number(const char* name) const { return static_cast<int>(parameters_.integer(name)); }
  [[nodiscard]] IoTopology topology() const;
  void place_system(const WorkloadSetup& setting);
  void place_processes(std::uint64_t seed);

  Parameters parameters_;
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
  std::vector<std::unique_ptr<Process>> processes_;  // by number of their task
  std::vector<std::vector<Process*>> by_cpu_;
  int tick_vector_ = 0;
};

void Oltp::set_up(const WorkloadSetup& setting) {
  kernel_ = std::make_unique<Kernel>(
      setting, Kernel::Options{.lock = parameters_.text("lock"), .base_cpi = parameters_.number("kernel_base_cpi")});
  scheduler_ = std::make_unique<Scheduler>(
      *kernel_, SchedulerOptions{.sibling_check_always = parameters_.text("sibling_check") == "always",
                                 .pinned = parameters_.flag("pinned")});
  timers_ = std::make_unique<Timers>(*kernel_, TimerOptions{.jiffy_us = parameters_.number("jiffy_us"),
                                                            .batch_deletes = parameters_.flag("batch_timer_deletes"),
                                                            .prefetch_locks = parameters_.flag("prefetch_timer_locks")});
  slab_ = std::make_unique<SlabAllocator>(*kernel_,
                                          SlabOptions{.variant = parameters_.text("slab"),
                                                      .alien_limit = number("alien_limit"),
                                                      .refill_from_remote_frees = parameters_.flag("refill_from_remote_frees"),
                                                      .interleaved_pct = parameters_.number("interleaved_pct")});
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
  constexpr int kMostIos = 2048;  // under way at once: how much memory there is for what an I/O needs
  aio_ = std::make_unique<Aio>(kernel, *scheduler_, *timers_, *slab_, kMostIos);
  BlockOptions block{.topology = topology(), .done = [this](Cpu& cpu, Io& io) { aio_->complete(cpu, io); }};
  block.plug = parameters_.flag("plug");
  block.adjust_queue_depth_check = parameters_.flag("adjust_queue_depth_check");
  const bool handed = parameters_.flag("submit_where_interrupted");
  block.complete_on_submitter = handed || parameters_.flag("complete_on_submitter");
  block_ = make_block_layer(kernel, *timers_, *slab_, block);
  if (handed) handed_ = std::make_unique<HandedSubmission>(kernel, *block_, block.topology);
  aio_->use(handed ? *handed_ : *block_);
  const auto shape = [this](const std::string& prefix) {
    return OtherMemoryShape{.shared = parameters_.number(prefix + "_shared_misses"),
                            .node_shared = parameters_.number(prefix + "_node_misses"),
                            .local_memory = parameters_.number(prefix + "_local_memory_misses"),
                            .remote_memory = parameters_.number(prefix + "_remote_memory_misses"),
                            .shared_lines = number((prefix + "_shared_lines").c_str()),
                            .node_lines = number((prefix + "_node_lines").c_str())};
  };
  user_memory_ =
      std::make_unique<OtherMemory>(kernel, "user", shape("user"), Pace(parameters_.number("user_base_cpi"), setting.machine));
  kernel_memory_ = std::make_unique<OtherMemory>(kernel, "other_kernel", shape("other"),
                                                 Pace(parameters_.number("kernel_base_cpi"), setting.machine));
  const Object inode = kernel.place("inode_data", "inode_data", 0);
  system_ =
      std::make_unique<OltpSystem>(OltpSystem{.kernel = kernel,
                                              .scheduler = *scheduler_,
                                              .aio = *aio_,
                                              .user_memory = *user_memory_,
                                              .kernel_memory = *kernel_memory_,
                                              .devices = number("devices"),
                                              .user_instructions = parameters_.integer("user_instructions"),
                                              .writer_instructions = parameters_.integer("writer_instructions"),
                                              .kernel_instructions = parameters_.integer("other_kernel_instructions"),
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
  topology.service_us = parameters_.number("service_us");
  InterruptTurns turns(*kernel_);
  for (int a = 0; a < number("adapters"); ++a) {
    IoTopology::Adapter adapter{.node = second, .interrupt_cpus = {}};
    turns.give(adapter, 0, number("interrupt_cpus_of_first_node"));
    turns.give(adapter, second, number("interrupt_cpus_of_second_node"));
    topology.adapters.push_back(adapter);
  }
  for (int d = 0; d < number("devices"); ++d) topology.devices.push_back({.adapter = d % number("adapters"), .node = 0});
  return topology;
}

void Oltp::place_processes(std::uint64_t seed) {
  const int cpus = kernel_->cpus();
  const int sessions = cpus * number("sessions_per_cpu");
  const int group = number("commit_group");
  const int groups = std::max(1, sessions / std::max(group, number("sessions_per_semaphore")));
  if (sessions / groups < group) {
    throw std::invalid_argument(
        fmt::format("workload.commit_group: {} sessions can't commit in groups of {}", sessions, group));
  }
  for (int i = 0; i < groups; ++i) {
    groups_.emplace_back(*kernel_, *scheduler_, fmt::format("sem_array[{}]", i), i % kernel_->nodes(), group);
  }
  by_cpu_.resize(static_cast<std::size_t>(cpus));
  const auto add = [this](int cpu, std::unique_ptr<Process> process) {
    by_cpu_[static_cast<std::size_t>(cpu)].push_back(process.get());
    processes_.push_back(std::move(process));
  };
  for (int i = 0; i < sessions; ++i) {
    const int cpu = i % cpus;
    const Task& task = scheduler_->create_task(fmt::format("session[{}]", i), cpu);
    add(cpu, make_foreground(*system_, task, seed, kernel_->node_of(cpu), number("reads_per_transaction"),
                             groups_[static_cast<std::size_t>(i % groups)]));
  }
  const int writers = number("writers");
  const int nodes = kernel_->nodes();
  for (int i = 0; i < writers; ++i) {  // as many on each node, apart from each other
    const std::vector<int> of_node = kernel_->cpus_of(i % nodes);
    const int writers_of_node = (writers + nodes - 1) / nodes;
    const int cpu = of_node[static_cast<std::size_t>(i / nodes) * of_node.size() / static_cast<std::size_t>(writers_of_node)];
    const Task& task = scheduler_->create_task(fmt::format("writer[{}]", i), cpu);
    add(cpu, make_writer(*system_, task, seed, kernel_->node_of(cpu), number("writer_contexts"), number("writer_depth"),
                         number("writer_batch")));
  }
}

void Oltp::run(Cpu& cpu) {
  kernel_->interrupts().start(cpu);
  // Ticks of the CPUs are spread over a jiffy.
  const double jiffy_ns = timers_->jiffy_us() * kNsOfUs;
  cpu.set_timer(jiffy_ns * (1 + static_cast<double>(cpu.id().value) / kernel_->cpus()), tick_vector_);
  for (Process* process : by_cpu_[static_cast<std::size_t>(cpu.id().value)]) scheduler_->try_to_wake_up(cpu, process->task());
  for (;;) {
    if (const Task* task = scheduler_->schedule(cpu)) {
      processes_[static_cast<std::size_t>(task->number)]->run(cpu);
    } else {
      scheduler_->idle(cpu);
    }
  }
}

void Oltp::report(const RunFacts& facts, MetricSink& metrics) const {
  report_rate(facts, tallied_by_all(facts, kTransactions), metrics);
  metrics.metric("oltp.reads_per_s", per_second(facts, tallied_by_all(facts, kReads)));
  metrics.metric("oltp.writes_per_s", per_second(facts, tallied_by_all(facts, kWrites)));
}

}  // namespace

std::vector<ParameterDeclaration> oltp_parameters() {
  const auto count = [](const char* name, std::int64_t value, const char* meaning, double least, double most) {
    return ParameterDeclaration{.name = name, .default_value = value, .meaning = meaning, .minimum = least, .maximum = most};
  };
  const auto number = [](const char* name, double value, const char* meaning, double most) {
    return ParameterDeclaration{.name = name, .default_value = value, .meaning = meaning, .minimum = 0, .maximum = most};
  };
  const auto flag = [](const char* name, bool value, const char* meaning) {
    return ParameterDeclaration{.name = name, .default_value = value, .meaning = meaning};
  };
  return {
      {.name = "layout", .default_value = std::string("linux_2_6_20"), .meaning = "the structures, a file of configs/layouts"},
      spin_lock_parameter(),
      count("sessions_per_cpu", 24, "users' processes of each CPU", 1, 1000),
      count("reads_per_transaction", 2, "blocks that a session reads and waits for, before it commits", 0, 1000),
      count("commit_group", 4, "sessions that commit with one write of the log", 1, 1000),
      count("sessions_per_semaphore", 12, "sessions that commit through one semaphore set", 1, 1000),
      count("user_instructions", 90000, "of the database from one read to the next, mean", 1, 1e9),
      count("writer_instructions", 20000, "of a writer from one batch to the next, mean", 1, 1e9),
      count("other_kernel_instructions", 4000, "of the kernel beside the subsystems simulated, for each submission", 0, 1e9),
      number("user_base_cpi", 1, "cycles of an instruction that misses no cache", 100),
      number("kernel_base_cpi", 0.75, "cycles of an instruction that misses no cache", 100),
      count("writers", 2, "processes that write changed blocks", 0, 1000),
      count("writer_depth", 48, "writes that each keeps under way, in all its contexts together", 1, 100),
      count("writer_batch", 32, "writes that each submits at once", 1, 100),
      count("writer_contexts", 1, "AIO contexts of each; every batch is divided over them", 1, 16),
      count("devices", 96, "disks", 1, 1000),
      count("adapters", 16, "that the disks are divided over", 1, 100),
      count("interrupt_cpus_of_first_node", 2, "CPUs of the first node that each adapter interrupts, in turn with the second's",
            0, 64),
      count("interrupt_cpus_of_second_node", 1, "CPUs of the second node", 0, 64),
      number("service_us", 1500, "of a disk, from command to interrupt, mean", 1e6),
      number("jiffy_us", 1000, "from one tick to the next", 1e6),
      number("interleaved_pct", 10, "allocations of processes that their memory policy sends to another node", 100),
      number("user_shared_misses", 1, "of user code between two reads: lines that all CPUs write", 1000),
      number("user_node_misses", 20, "lines that the node's CPUs write", 1000),
      number("user_local_memory_misses", 20, "the node's memory", 1000),
      number("user_remote_memory_misses", 8, "the other node's memory", 1000),
      count("user_shared_lines", 4000, "lines that all CPUs write", 1, 1e6),
      count("user_node_lines", 4000, "lines that a node's CPUs write", 1, 1e6),
      number("other_shared_misses", 10, "of the other kernel code, for each submission: lines that all CPUs write", 1000),
      number("other_node_misses", 2, "lines that the node's CPUs write", 1000),
      number("other_local_memory_misses", 4, "the node's memory", 1000),
      number("other_remote_memory_misses", 2, "the other node's memory", 1000),
      count("other_shared_lines", 8000, "lines that all CPUs write", 1, 1e6),
      count("other_node_lines", 4000, "lines that a node's CPUs write", 1, 1e6),
      {.name = "sibling_check",
       .default_value = std::string("always"),
       .meaning = "whether a wake-up looks at the sibling of a busy CPU",
       .choices = {"always", "unless_several_run"}},
      flag("pinned", true, "processes stay on their CPUs; else load balancing moves them"),
      flag("batch_timer_deletes", false, "a timer of another CPU is marked, and taken off in that CPU's own time"),
      flag("prefetch_timer_locks", false, "completion asks for the locks of all timers that it is about to delete"),
      {.name = "slab",
       .default_value = std::string("slab_numa"),
       .meaning = "the allocator of small objects",
       .choices = slab_variant_names()},
      count("alien_limit", 12, "freed objects of another node that are gathered before they are sent home", 1, 60),
      flag("refill_from_remote_frees", false, "a CPU's array is filled from objects that wait to be sent home"),
      flag("plug", true, "disks' queues are plugged, with a timer that unplugs them"),
      flag("adjust_queue_depth_check", true, "completion reads the disk's queue depth; else a flag of the adapter"),
      flag("submit_where_interrupted", false,
           "an I/O is handed to one of the CPUs that its adapter interrupts, which submits it and is interrupted"),
      flag("complete_on_submitter", false, "an adapter interrupts the CPU that has submitted (a queue for each CPU)"),
  };
}

std::unique_ptr<Workload> make_oltp(const Parameters& parameters) {
  return std::make_unique<Oltp>(parameters);
}

}  // namespace linebounce::workloads
