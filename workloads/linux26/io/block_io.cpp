// One process on each CPU does direct I/O. It submits a batch to random disks, sleeps until the whole batch is done, computes,
// and repeats. The traffic between nodes comes from the block layer, SCSI, timers and slab. The only part of the file system
// that is simulated is its count of I/Os in flight.
#include <fmt/format.h>

#include <deque>
#include <optional>

#include "workloads/linux26/io/block_layer.hpp"
#include "workloads/program/random.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/times.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kIos = 0;                     // tally
constexpr Value kBytes = 8192;              // size of an I/O in bytes: a page of a database
constexpr int kDirectIoInstructions = 600;  // instructions of __blockdev_direct_IO() per I/O: pins pages, maps blocks
constexpr std::uint64_t kPurpose = 1;       // the stream of random numbers

struct BlockIoOptions {
  Kernel::Options kernel{.base_cpi = 0.75};
  std::string layout = "linux_2_6_20";
  TimerOptions timers;
  SlabOptions slab;
  BlockOptions block;
  std::uint64_t disks = 8;
  int adapters = 2;
  std::int64_t near_interrupt_cpus = 2;
  std::int64_t far_interrupt_cpus = 1;
  int batch = 8;
  std::uint64_t write_pct = 30;
  double think_us = 500;
  double service_us = 500;

  void bind(ParameterBinder& parameters) {
    spin_lock_parameter(parameters, kernel.lock);
    parameters.text("layout", layout, "the structures, a file of configs/layouts");
    parameters.text("slab", slab.variant, "the allocator", slab_variant_names());
    parameters.number("disks", disks, 1, 256, "spread over adapters and nodes");
    parameters.number("adapters", adapters, 1, 64, "spread over the nodes");
    parameters.number("near_interrupt_cpus", near_interrupt_cpus, 1, 64, "CPUs of its node that an adapter interrupts in turn");
    parameters.number("far_interrupt_cpus", far_interrupt_cpus, 0, 64, "and of the next node");
    parameters.number("batch", batch, 1, 1024, "I/Os that a CPU submits together");
    parameters.number("write_pct", write_pct, 0, 100, "of the I/Os that are writes");
    parameters.number("think_us", think_us, 0, 1e6, "mean time from a batch's end to the next");
    parameters.number("service_us", service_us, 0.1, 1e6, "mean time from a disk's start to its interrupt, exponential");
    parameters.number("queue_depth", block.queue_depth, 1, 512, "commands at a disk at once");
    parameters.number("jiffy_us", timers.jiffy_us, 10, 1e5, "of the clock");
    parameters.number("base_cpi", kernel.base_cpi, 0, 100, "of instructions that miss no cache (OLS 2007, section 3)");
    parameters.number("tag_neighbour", block.tag_neighbour, 0, 256,
                      "on whose blk_queue_tag's line a disk's tag bitmap lies: of the disk so many before it on its node; 0: "
                      "on its own one's");
    parameters.flag("plug", block.plug, "a queue waits for more; false: each request is started at once");
    parameters.flag("adjust_queue_depth_check", block.adjust_queue_depth_check,
                    "a completion looks at its disk's queue_depth; false: at a flag of its adapter");
    parameters.flag("complete_on_submitter", block.complete_on_submitter, "the CPU that submitted is interrupted (MSI-X)");
  }
};

class BlockIo final : public Workload {
 public:
  explicit BlockIo(const Parameters& parameters) : options_(read_options<BlockIoOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override;
  void run(Cpu& cpu) override;
  void report(const RunFacts& facts, MetricSink& metrics) const override;

 private:
  struct Process {
    Object dio;
    CpuId cpu;
    Random random;
    std::vector<Io> ios;
    std::int64_t batches = 0;  // batches that ended in the measured time
    Tick waited = 0;           // sum of the times from start to end of these batches
  };

  [[nodiscard]] IoTopology topology() const;
  void tick(Cpu& cpu);
  void submit_batch(Cpu& cpu, Process& process);
  void wait(Cpu& cpu, const Process& process);
  void done(Cpu& cpu, Io& io);

  BlockIoOptions options_;
  std::optional<Kernel> kernel_;
  std::optional<Timers> timers_;
  std::optional<SlabAllocator> slab_;
  std::unique_ptr<BlockLayer> block_;
  SlabCache* bios_ = nullptr;
  FieldPlace refcount_, bi_sector_, bi_size_;
  FunctionId user_ = 0, direct_io_ = 0, end_io_ = 0;
  int tick_ = 0;
  std::int64_t think_cycles_ = 0;
  std::deque<Process> processes_;  // by CPU
};

IoTopology BlockIo::topology() const {
  const int nodes = kernel_->nodes();
  IoTopology made;
  made.service_us = options_.service_us;
  InterruptTurns turns(*kernel_);
  for (int number = 0; number < options_.adapters; ++number) {
    IoTopology::Adapter adapter{.node = number % nodes, .interrupt_cpus = {}};
    turns.give(adapter, adapter.node, options_.near_interrupt_cpus);
    turns.give(adapter, (adapter.node + 1) % nodes, options_.far_interrupt_cpus);
    made.adapters.push_back(adapter);
  }
  for (int disk = 0; disk < static_cast<int>(options_.disks); ++disk)
    made.devices.push_back({.adapter = disk % options_.adapters, .node = disk / options_.adapters % nodes});
  return made;
}

void BlockIo::set_up(const WorkloadSetup& setting) {
  const int cpus = setting.machine.cpus;
  kernel_.emplace(setting, options_.kernel);
  timers_.emplace(*kernel_, options_.timers);
  slab_.emplace(*kernel_, options_.slab);
  BlockOptions options = options_.block;
  options.topology = topology();
  options.done = [this](Cpu& cpu, Io& io) { done(cpu, io); };
  options.most_ios = cpus * options_.batch;
  bios_ = &slab_->create_cache("bio", objects_per_node(*kernel_, options));
  block_ = make_block_layer(*kernel_, *timers_, *slab_, options);
  refcount_ = kernel_->field("size_1024", "dio.refcount");
  bi_sector_ = kernel_->field("bio", "bi_sector");
  bi_size_ = kernel_->field("bio", "bi_size");
  user_ = setting.memory.function("user_program", Mode::user);
  direct_io_ = kernel_->function("__blockdev_direct_IO");
  end_io_ = kernel_->function("dio_bio_end_io");
  tick_ = kernel_->interrupts().add_handler([this](Cpu& cpu, FunctionId) { tick(cpu); });
  think_cycles_ = cycles(options_.think_us, setting.machine);
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const int node = kernel_->node_of(cpu);
    const Object dio = kernel_->place("size_1024", fmt::format("dio[{}]", cpu), node);
    Process& process =
        processes_.emplace_back(Process{.dio = dio,
                                        .cpu = CpuId{cpu},
                                        .random = Random(setting.seed, static_cast<std::uint64_t>(cpu), kPurpose),
                                        .ios = std::vector<Io>(options_.batch)});
    for (Io& io : process.ios) io.owner = &process;
  }
}

void BlockIo::tick(Cpu& cpu) {
  timers_->tick(cpu);
  cpu.set_timer(options_.timers.jiffy_us * 1000, tick_);
}

void BlockIo::run(Cpu& cpu) {
  Process& process = processes_[cpu.id().value];
  kernel_->interrupts().start(cpu);
  cpu.set_timer(options_.timers.jiffy_us * 1000, tick_);
  for (;;) {
    {
      const FunctionScope scope(cpu, user_);
      compute_about(cpu, process.random, think_cycles_);
    }
    const Tick begin = cpu.local_time();
    submit_batch(cpu, process);
    wait(cpu, process);
    cpu.tally(kIos, static_cast<std::int64_t>(process.ios.size()));
    if (!cpu.measures(begin)) continue;
    ++process.batches;
    process.waited += cpu.local_time() - begin;
  }
}

void BlockIo::submit_batch(Cpu& cpu, Process& process) {
  const FunctionScope scope(cpu, direct_io_);
  process.dio.store(cpu, refcount_, process.ios.size());
  for (Io& io : process.ios) {
    kernel_->execute(cpu, kDirectIoInstructions);
    io.device = static_cast<int>(process.random.below(options_.disks));
    io.write = process.random.below(100) < options_.write_pct;
    io.bio = bios_->alloc(cpu);
    const Value sector = process.random.below(Value{1} << 31);
    io.bio.store(cpu, bi_sector_, sector);
    io.bio.store(cpu, bi_size_, kBytes);
    block_->submit(cpu, io);
  }
  // Unplugs once per I/O, because each I/O is a system call of its own. If the queue is already unplugged, this costs little.
  for (const Io& io : process.ios) block_->unplug(cpu, io.device);
}

void BlockIo::wait(Cpu& cpu, const Process& process) {
  const FunctionScope scope(cpu, direct_io_);
  while (process.dio.load(cpu, refcount_) != 0) cpu.sleep();
}

void BlockIo::done(Cpu& cpu, Io& io) {
  const FunctionScope scope(cpu, end_io_);
  const Process& process = *static_cast<Process*>(io.owner);
  bios_->free(cpu, io.bio);
  if (process.dio.fetch_add(cpu, refcount_, Value{0} - 1) == 1) cpu.wake(process.cpu);
}

void BlockIo::report(const RunFacts& facts, MetricSink& metrics) const {
  report_rate(facts, tallied_by_all(facts, kIos), metrics);
  std::int64_t batches = 0;
  Tick waited = 0;
  for (const Process& process : processes_) {
    batches += process.batches;
    waited += process.waited;
  }
  metrics.mean("io.batch_us", "us", kLower, "from the submission of a batch to the last of its completions, mean",
               facts.to_ns(waited) / 1000, batches);
}

}  // namespace

WorkloadEntry block_io_workload() {
  return {"block_io",
          "Direct I/O from every CPU to every disk: block layer, SCSI and adapter of Linux 2.6.20",
          declare<BlockIoOptions>(),
          make_workload<BlockIo>,
          {headlines::kOperations, {"io.batch_us", "batch"}, headlines::kLatency}};
}

}  // namespace linebounce::workloads
