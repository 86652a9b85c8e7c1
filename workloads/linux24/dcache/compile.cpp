// The dentry-cache load of compilers (OLS 2002, section 6): all CPUs open the same headers, deep in one tree, and allocate
// memory, which takes pagemap_lru_lock. Nothing is created or removed.
#include <array>

#include "workloads/linux24/dcache/common.hpp"
#include "workloads/program/barrier.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kOpens = 0;            // tally
constexpr std::uint64_t kDepth = 5;  // "usr", "src", "linux", "include", "linux"
constexpr std::uint64_t kCompileFirstPathName = 1, kCompileFirstHeaderName = 1000;

struct CompileOptions {
  DcacheOptions dcache{.dentries = 1000};
  std::uint64_t headers = 300;
  double user_us = 2000;
  double memory_section_us = 2;

  void bind(ParameterBinder& parameters) {
    dcache.bind(parameters);
    parameters.number("headers", headers, 1, 10000, "that all CPUs open");
    parameters.number("user_us", user_us, 0, 1e6, "mean time between two opens");
    parameters.number("memory_section_us", memory_section_us, 0, 1e4,
                      "mean of a section under pagemap_lru_lock between two opens");
  }
};

class Compile final : public Workload {
 public:
  explicit Compile(const Parameters& parameters) : options_(read_options<CompileOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override {
    seed_ = setting.seed;
    parts_ = make_dcache_parts(options_.dcache, setting);
    user_ = cycles(options_.user_us, setting.machine);
    memory_section_ = cycles(options_.memory_section_us, setting.machine);
    AddressSpace& memory = setting.memory;
    compiler_ = memory.function("cc1", Mode::user);
    open_ = memory.function("sys_open", Mode::kernel);
    lru_cache_add_ = memory.function("lru_cache_add", Mode::kernel);
    memory_lock_ = &setting.locks.create(options_.dcache.lock, "pagemap_lru_lock");
    root_word_ = memory.place_array("root_directory", memory.line_bytes());
    for (std::uint64_t i = 0; i <= options_.headers; ++i) inodes_.push_back(place_inode(setting, "inode", i));
    barrier_ = Barrier(memory, "start", setting.machine.cpus);
  }

  void run(Cpu& cpu) override {
    const auto self = static_cast<std::uint64_t>(cpu.id().value);
    Random random(seed_, self, 0);
    PathTimes times(parts_.costs, Random(seed_, self, 1));
    parts_.dcache->start(cpu);
    if (self == 0) build(cpu);
    barrier_.wait(cpu);
    for (;;) {
      compile(cpu, random);
      open(cpu, random, times);
      cpu.tally(kOpens);
      parts_.dcache->quiescent(cpu);
    }
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override {
    report_rate(facts, tallied_by_all(facts, kOpens), metrics);
  }

 private:
  static std::array<Name, kDepth> path() {
    std::array<Name, kDepth> names;
    for (std::uint64_t i = 0; i < kDepth; ++i) names[i] = name_of(kCompileFirstPathName + i);
    return names;
  }

  void build(Cpu& cpu) {
    const Address root = parts_.dcache->d_alloc(cpu, kNoDentry, name_of(0));
    Address parent = root;
    for (const Name& name : path()) parent = parts_.dcache->add_in_use(cpu, parent, name, inodes_[0]);
    for (std::size_t i = 1; i < inodes_.size(); ++i) {
      const OneFile header(inodes_[i]);
      parts_.dcache->dput(cpu, parts_.dcache->lookup_hash(cpu, parent, name_of(kCompileFirstHeaderName + i), header));
    }
    cpu.store(root_word_, root);
  }

  void compile(Cpu& cpu, Random& random) {
    {
      const FunctionScope scope(cpu, compiler_);
      compute_about(cpu, random, user_);
      cpu.now();
    }
    const FunctionScope scope(cpu, lru_cache_add_);
    memory_lock_->acquire(cpu);
    compute_about(cpu, random, memory_section_);
    memory_lock_->release(cpu);
  }

  void open(Cpu& cpu, Random& random, PathTimes& times) {
    const FunctionScope scope(cpu, open_);
    Dcache& dcache = *parts_.dcache;
    const Address root = cpu.load(root_word_);
    const Address parent = dcache.link_path_walk(cpu, root, path(), times);
    const std::uint64_t header = 1 + random.below(inodes_.size() - 1);
    times.before_lookup(cpu);
    const Address dentry = dcache.d_lookup(cpu, parent, name_of(kCompileFirstHeaderName + header));
    times.after_lookup(cpu);
    dcache.dput(cpu, parent);
    dcache.dput(cpu, dentry);
  }

  CompileOptions options_;
  std::uint64_t seed_ = 0;
  DcacheParts parts_;
  std::int64_t user_ = 0;
  std::int64_t memory_section_ = 0;
  MeteredLock* memory_lock_ = nullptr;
  Address root_word_ = 0;
  std::vector<Address> inodes_;  // the directories' inodes, then the headers'
  FunctionId compiler_ = 0, open_ = 0, lru_cache_add_ = 0;
  Barrier barrier_;
};

}  // namespace

WorkloadEntry compile_workload() {
  return {"compile",
          "The dentry cache under compilers: all CPUs open the same headers",
          declare<CompileOptions>(),
          make_workload<Compile>,
          {headlines::kOperations, headlines::kDcacheLock, headlines::kLatency}};
}

}  // namespace linebounce::workloads
