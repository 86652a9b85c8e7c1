// HAMMER under a load like blogbench's: some CPUs read small files that are all in memory, others write such files, and one CPU
// flushes the changes to disk (M. Dillon's mail of January 2011; README.md).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/failure.hpp"
#include "workloads/dragonfly/flusher.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/times.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kFilesRead = 0;  // tallies
constexpr int kFilesWritten = 1;
constexpr int kBlocksRead = 2;
constexpr int kBuffersMade = 3;
constexpr std::uint64_t kFileStream = 11;
constexpr int kVersionBits = 32;

class Hammer final : public Workload {
 public:
  explicit Hammer(const Parameters& parameters) : options_(read_options<HammerOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override;
  void run(Cpu& cpu) override;
  void report(const RunFacts& facts, MetricSink& metrics) const override;

 private:
  struct OfCpu {
    std::vector<Value> seen;  // by block, the latest version that this CPU has read
    double waits_ns = 0;      // total in the measured time: a reader's waits for the lock, or a writer's for an inode
    double longest_wait_ns = 0;
  };
  OfCpu& of(const Cpu& cpu) { return cpus_[cpu.id().value]; }
  [[nodiscard]] bool writes(int cpu) const { return cpu >= all_cpus_ - 1 - options_.writers; }

  void read_files(Cpu& cpu);
  void write_files(Cpu& cpu);
  void idle(Cpu& cpu) const;

  void read_file(Cpu& cpu, std::uint64_t first);
  void read_block(Cpu& cpu, std::uint64_t block, bool& locked);
  void write_file(Cpu& cpu, std::uint64_t first);
  void check(Cpu& cpu, std::uint64_t block, Value value);
  [[nodiscard]] std::uint64_t draw_file(const Cpu& cpu, Random& random) const;
  void waited(Cpu& cpu, double ns);

  HammerOptions options_;
  std::uint64_t seed_ = 0;
  int all_cpus_ = 0;
  std::uint64_t least_files_ = 1;
  std::int64_t user_ = 0, read_ = 0, copy_ = 0, write_copy_ = 0, create_ = 0, create_locked_ = 0;  // cycles
  std::optional<Interrupts> interrupts_;
  std::optional<BufferCache> cache_;
  std::optional<HammerMount> mount_;
  std::optional<Flusher> flusher_;
  std::optional<Stretches> read_by_stretch_, written_by_stretch_;
  FunctionId blogbench_ = 0, vop_read_ = 0, vop_write_ = 0, wait_ = 0, idle_ = 0;
  std::vector<OfCpu> cpus_;
};

void Hammer::set_up(const WorkloadSetup& setting) {
  seed_ = setting.seed;
  all_cpus_ = setting.machine.cpus;
  options_.check(all_cpus_);
  least_files_ = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(options_.cache.buffers / options_.blocks_per_file / 16));
  const auto cycles_of = [&](double us) { return cycles(us, setting.machine); };
  user_ = cycles_of(options_.user_us);
  read_ = cycles_of(options_.read_us);
  copy_ = cycles_of(options_.copy_us);
  write_copy_ = cycles_of(options_.copy_us / options_.write_speed);
  create_ = cycles_of(options_.create_us / options_.write_speed);
  create_locked_ = cycles_of(options_.create_locked_us / options_.write_speed);
  interrupts_.emplace(all_cpus_);
  cache_.emplace(setting, options_.cache, *interrupts_);
  mount_.emplace(setting, options_);
  flusher_.emplace(setting, options_, *mount_, *interrupts_);
  read_by_stretch_.emplace(options_.series_us, all_cpus_);
  written_by_stretch_.emplace(options_.series_us, all_cpus_);
  blogbench_ = setting.memory.function("blogbench", Mode::user);
  vop_read_ = setting.memory.function("hammer_vop_read", Mode::kernel);
  vop_write_ = setting.memory.function("hammer_vop_write", Mode::kernel);
  wait_ = setting.memory.function("hammer_inode_waitreclaims", Mode::kernel);
  idle_ = setting.memory.function("idle", Mode::kernel);
  cpus_.resize(all_cpus_);
  for (OfCpu& own : cpus_) own.seen.resize(cache_->blocks());
}

void Hammer::run(Cpu& cpu) {
  interrupts_->start(cpu);
  const int number = cpu.id().value;
  if (number == all_cpus_ - 1) {
    flusher_->run(cpu);
  } else if (!writes(number)) {
    read_files(cpu);
  } else if (options_.writing) {
    write_files(cpu);
  } else {
    idle(cpu);
  }
}

void Hammer::idle(Cpu& cpu) const {
  const FunctionScope scope(cpu, idle_);
  for (;;) cpu.sleep();
}

std::uint64_t Hammer::draw_file(const Cpu& cpu, Random& random) const {
  const auto each = static_cast<std::uint64_t>(options_.blocks_per_file);
  std::uint64_t files = cache_->blocks() / each;
  if (options_.growth_us > 0) {
    const double part = std::min(1.0, cpu.to_ns(cpu.local_time()) / 1000 / options_.growth_us);
    const auto grown = static_cast<std::uint64_t>(part * static_cast<double>(files));
    files = std::clamp(grown, std::min(least_files_, files), files);
  }
  return random.below(files) * each;
}

void Hammer::read_files(Cpu& cpu) {
  Random random(seed_, static_cast<std::uint64_t>(cpu.id().value), kFileStream);
  for (;;) {
    {
      const FunctionScope scope(cpu, blogbench_);
      compute_about(cpu, random, user_);
    }
    const std::uint64_t first = draw_file(cpu, random);
    const double began_ns = cpu.now_ns();
    read_file(cpu, first);
    waited(cpu, cpu.now_ns() - began_ns);
    cpu.tally(kFilesRead);
    read_by_stretch_->count(cpu);
  }
}

// One read() of the whole file. Once a block has required the per-mount lock, the read holds the lock for the rest of the file.
void Hammer::read_file(Cpu& cpu, std::uint64_t first) {
  const FunctionScope scope(cpu, vop_read_);
  bool locked = false;
  const auto blocks = static_cast<std::uint64_t>(options_.blocks_per_file);
  for (std::uint64_t block = first; block < first + blocks; ++block) read_block(cpu, block, locked);
  if (locked) mount_->lock().release(cpu);
}

void Hammer::read_block(Cpu& cpu, std::uint64_t block, bool& locked) {
  cpu.tally(kBlocksRead);
  if (read_ > 0) cpu.compute(read_);
  Address buffer = cache_->find(cpu, block);
  if (buffer == 0) {
    cpu.tally(kBuffersMade);
    if (options_.lock_before_getblk && !locked) {
      mount_->lock().acquire(cpu);
      locked = true;
    }
    buffer = cache_->getblk(cpu, block);
  }
  const Address data = cache_->data(cpu, buffer, block);
  check(cpu, block, cpu.load(data));
  if (copy_ > 0) cpu.compute(copy_);
  cache_->release(cpu, buffer);
}

// A block's first word holds the block's number and its version, which counts writes. No CPU may see an older version after a
// newer one.
void Hammer::check(Cpu& cpu, std::uint64_t block, Value value) {
  Value& seen = of(cpu).seen[block];
  const Value version = value & ((Value{1} << kVersionBits) - 1);
  if (value >> kVersionBits != block || version < seen)
    throw ModelFailure(fmt::format("hammer: a read of block {} after version {} has got version {} of block {}", block, seen,
                                   version, value >> kVersionBits));
  seen = version;
}

void Hammer::write_files(Cpu& cpu) {
  Random random(seed_, static_cast<std::uint64_t>(cpu.id().value), kFileStream);
  for (;;) {
    {
      const FunctionScope scope(cpu, wait_);
      const double began_ns = cpu.now_ns();
      mount_->take_inode(cpu);
      waited(cpu, cpu.now_ns() - began_ns);
    }
    {
      const FunctionScope scope(cpu, blogbench_);
      compute_about(cpu, random, create_);
    }
    write_file(cpu, draw_file(cpu, random));
    cpu.tally(kFilesWritten);
    written_by_stretch_->count(cpu);
  }
}

void Hammer::write_file(Cpu& cpu, std::uint64_t first) {
  const FunctionScope scope(cpu, vop_write_);
  const auto blocks = static_cast<std::uint64_t>(options_.blocks_per_file);
  std::vector<Address> buffers;
  for (std::uint64_t block = first; block < first + blocks; ++block) {
    buffers.push_back(cache_->getblk(cpu, block));
    if (write_copy_ > 0) cpu.compute(write_copy_);
  }
  mount_->lock().acquire(cpu);
  if (create_locked_ > 0) cpu.compute(create_locked_);
  for (std::uint64_t block = 0; block < blocks; ++block) {
    const Address data = cache_->data(cpu, buffers[block], first + block);
    const Value value = cpu.load(data);
    check(cpu, first + block, value);
    cpu.store(data, value + 1);
    check(cpu, first + block, value + 1);
  }
  mount_->add_inode(cpu);
  mount_->lock().release(cpu);
  for (const Address buffer : buffers) cache_->release(cpu, buffer);
}

void Hammer::waited(Cpu& cpu, double ns) {
  if (!cpu.measures(cpu.local_time())) return;
  OfCpu& own = of(cpu);
  own.waits_ns += ns;
  own.longest_wait_ns = std::max(own.longest_wait_ns, ns);
}

void Hammer::report(const RunFacts& facts, MetricSink& metrics) const {
  const std::int64_t reads = tallied_by_all(facts, kFilesRead);
  const std::int64_t writes_done = tallied_by_all(facts, kFilesWritten);
  // Files are written faster than in reality by the factor write_speed. Dividing by it relates the writes to the readers' time.
  report_rate(facts, reads + std::llround(static_cast<double>(writes_done) / options_.write_speed), metrics);
  metrics.value("hammer.reads_per_s", "1/s", kHigher, "files read", per_second(facts, reads));
  metrics.value("hammer.writes_per_s", "1/s", kHigher, "files written", per_second(facts, writes_done));
  metrics.mean("hammer.buffers_made_pct", "%", kNeither,
               "of the blocks read, those whose buffer had to be made of the VM page cache's pages",
               100 * static_cast<double>(tallied_by_all(facts, kBuffersMade)), tallied_by_all(facts, kBlocksRead));
  double read_ns = 0;
  double longest_read_ns = 0;
  double longest_inode_ns = 0;
  for (int cpu = 0; cpu < all_cpus_ - 1; ++cpu) {
    const OfCpu& own = cpus_[cpu];
    if (!writes(cpu)) read_ns += own.waits_ns;
    double& longest = writes(cpu) ? longest_inode_ns : longest_read_ns;
    longest = std::max(longest, own.longest_wait_ns);
  }
  metrics.mean("hammer.read_mean_us", "us", kLower, "time of a read, of a whole file, mean", read_ns / 1000, reads);
  metrics.value("hammer.read_longest_us", "us", kLower, "the longest read", longest_read_ns / 1000);
  metrics.value("hammer.inode_wait_longest_ms", "ms", kLower, "the longest wait of a writer for an inode that may become dirty",
                longest_inode_ns / 1e6);
  metrics.value("hammer.slowest_stretch_pct", "%", kHigher,
                "reads in the stretch of time with the fewest, of the mean; 100 % is a steady rate",
                read_by_stretch_ ? std::optional(read_by_stretch_->least_pct()) : std::nullopt);
  figures_of(flusher_).report(metrics);
  if (!flusher_) return;
  metrics.series("hammer.reads_per_s", read_by_stretch_->per_second());
  metrics.series("hammer.writes_per_s", written_by_stretch_->per_second());
  flusher_->report_series(metrics);
}

}  // namespace

WorkloadEntry hammer_workload() {
  return {"hammer",
          "HAMMER, the file system of DragonFly BSD: cached reads, writes of small files, and their flush to a disk",
          declare<HammerOptions>(),
          make_workload<Hammer>,
          {{"hammer.reads_per_s", "files read"},
           {"hammer.writes_per_s", "files written"},
           {"hammer.slowest_stretch_pct", "slowest"}}};
}

}  // namespace linebounce::workloads
