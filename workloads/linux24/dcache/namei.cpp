// The dentry cache alone. Each CPU walks a path of directories that all CPUs share, then into its own or a shared directory,
// to a file. Some operations are the whole life of a file instead: it is created there, sometimes renamed, and removed, as in
// /proc in the multi-user benchmark of OLS 2004 (section 5.1). The directory's semaphore is not modelled.
#include "workloads/linux24/dcache/common.hpp"
#include "workloads/program/barrier.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kNameiOperations = 0, kLives = 1;  // tallies
constexpr std::uint64_t kNameiFirstPathName = 1, kNameiFirstDirectoryName = 100, kNameiFirstFileName = 1000,
                        kNameiFirstNewName = 1000000;

struct NameiOptions {
  DcacheOptions dcache{.dentries = 20000};
  std::uint64_t depth = 2;
  std::uint64_t files = 30;
  bool shared_directory = false;
  std::uint64_t updates_pct = 50;
  std::uint64_t renames_pct = 20;
  double user_us = 5;
  std::int64_t operations_per_cpu = 0;

  void bind(ParameterBinder& parameters) {
    dcache.bind(parameters);
    parameters.number("depth", depth, 0, 20, "directories that all share on the way");
    parameters.number("files", files, 1, 1000, "in each directory");
    parameters.flag("shared_directory", shared_directory, "all CPUs' files are in one directory; else each CPU has its own");
    parameters.number("updates_pct", updates_pct, 0, 100,
                      "of operations that create and remove a file; the others walk to one");
    parameters.number("renames_pct", renames_pct, 0, 100,
                      "of new files that are renamed (OLS 2002's dbench: 45,800 d_move to 233,290 d_delete)");
    parameters.number("user_us", user_us, 0, 1e6, "mean time between two operations");
    parameters.number("operations_per_cpu", operations_per_cpu, 0, 1e9,
                      "0: until the measured time is over; else the whole cache is checked at the end");
  }
};

class Namei final : public Workload {
 public:
  explicit Namei(const Parameters& parameters) : options_(read_options<NameiOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override;
  void run(Cpu& cpu) override;
  [[nodiscard]] bool ends() const override { return options_.operations_per_cpu > 0; }
  void report(const RunFacts& facts, MetricSink& metrics) const override;

 private:
  void build(Cpu& cpu);
  void walk(Cpu& cpu, Random& random, PathTimes& times);
  void live(Cpu& cpu, Random& random, PathTimes& times);
  void rename(Cpu& cpu, Address directory, Address file);
  [[nodiscard]] std::vector<Name> path_to_directory(const Cpu& cpu) const;

  NameiOptions options_;
  std::uint64_t seed_ = 0;
  std::uint64_t directories_ = 1;
  DcacheParts parts_;
  Dcache* dcache_ = nullptr;
  std::int64_t user_ = 0;
  Address root_word_ = 0;
  Address directory_inode_ = 0;
  std::vector<Address> inodes_;      // inodes of files
  std::vector<Address> new_inodes_;  // by CPU
  FunctionId user_function_ = 0, open_ = 0;
  Barrier barrier_;
};

void Namei::set_up(const WorkloadSetup& setting) {
  seed_ = setting.seed;
  parts_ = make_dcache_parts(options_.dcache, setting);
  dcache_ = parts_.dcache.get();
  user_ = cycles(options_.user_us, setting.machine);
  AddressSpace& memory = setting.memory;
  user_function_ = memory.function("user", Mode::user);
  open_ = memory.function("sys_open", Mode::kernel);
  root_word_ = memory.place_array("root_directory", memory.line_bytes());
  const auto cpus = static_cast<std::uint64_t>(setting.machine.cpus);
  if (!options_.shared_directory) directories_ = cpus;
  directory_inode_ = place_inode(setting, "directory_inode", 0);
  for (std::uint64_t i = 0; i < directories_ * options_.files; ++i) inodes_.push_back(place_inode(setting, "inode", i));
  for (std::uint64_t cpu = 0; cpu < cpus; ++cpu) new_inodes_.push_back(place_inode(setting, "new_inode", cpu));
  barrier_ = Barrier(memory, "start", setting.machine.cpus);
}

void Namei::build(Cpu& cpu) {
  const Address root = dcache_->d_alloc(cpu, kNoDentry, name_of(0));
  dcache_->iget(cpu, directory_inode_);
  dcache_->d_instantiate(cpu, root, directory_inode_);
  Address parent = root;
  for (std::uint64_t i = 0; i < options_.depth; ++i)
    parent = dcache_->add_in_use(cpu, parent, name_of(kNameiFirstPathName + i), directory_inode_);
  for (std::uint64_t number = 0; number < directories_; ++number) {
    const Address directory = dcache_->add_in_use(cpu, parent, name_of(kNameiFirstDirectoryName + number), directory_inode_);
    for (std::uint64_t file = 0; file < options_.files; ++file) {
      const OneFile inode(inodes_[number * options_.files + file]);
      dcache_->dput(cpu, dcache_->lookup_hash(cpu, directory, name_of(kNameiFirstFileName + file), inode));
    }
  }
  cpu.store(root_word_, root);
}

std::vector<Name> Namei::path_to_directory(const Cpu& cpu) const {
  std::vector<Name> path;
  for (std::uint64_t i = 0; i < options_.depth; ++i) path.push_back(name_of(kNameiFirstPathName + i));
  path.push_back(name_of(kNameiFirstDirectoryName + static_cast<std::uint64_t>(cpu.id().value) % directories_));
  return path;
}

void Namei::walk(Cpu& cpu, Random& random, PathTimes& times) {
  std::vector<Name> path = path_to_directory(cpu);
  path.push_back(name_of(kNameiFirstFileName + random.below(options_.files)));
  const Address root = cpu.load(root_word_);
  dcache_->dput(cpu, dcache_->link_path_walk(cpu, root, path, times));
}

void Namei::rename(Cpu& cpu, Address directory, Address file) {
  const auto self = static_cast<std::uint64_t>(cpu.id().value);
  const Address target = dcache_->d_alloc(cpu, directory, name_of(kNameiFirstNewName + 2 * self + 1));
  dcache_->d_rehash(cpu, target);
  dcache_->d_move(cpu, file, target);
  dcache_->dput(cpu, target);
}

// Creates, renames and removes a file. No other CPU uses its names.
void Namei::live(Cpu& cpu, Random& random, PathTimes& times) {
  const auto self = static_cast<std::uint64_t>(cpu.id().value);
  const Address root = cpu.load(root_word_);
  const Address directory = dcache_->link_path_walk(cpu, root, path_to_directory(cpu), times);
  const Address inode = new_inodes_[self];
  const Address file = dcache_->d_alloc(cpu, directory, name_of(kNameiFirstNewName + 2 * self));
  dcache_->iget(cpu, inode);
  dcache_->d_add(cpu, file, inode);
  if (random.below(100) < options_.renames_pct) rename(cpu, directory, file);
  dcache_->d_delete(cpu, file);
  dcache_->d_drop(cpu, file);
  dcache_->dput(cpu, file);
  dcache_->dput(cpu, directory);
  cpu.tally(kLives);
}

void Namei::run(Cpu& cpu) {
  const auto self = static_cast<std::uint64_t>(cpu.id().value);
  Random random(seed_, self, 0);
  PathTimes times(parts_.costs, Random(seed_, self, 1));
  dcache_->start(cpu);
  if (self == 0) build(cpu);
  barrier_.wait(cpu);
  for (std::int64_t done = 0; options_.operations_per_cpu == 0 || done < options_.operations_per_cpu; ++done) {
    {
      const FunctionScope scope(cpu, user_function_);
      compute_about(cpu, random, user_);
      cpu.now();  // an interrupt that is due now then finds user code
    }
    const FunctionScope scope(cpu, open_);
    if (random.below(100) < options_.updates_pct) {
      live(cpu, random, times);
    } else {
      walk(cpu, random, times);
    }
    cpu.tally(kNameiOperations);
    dcache_->quiescent(cpu);
  }
  barrier_.wait(cpu);
  if (self == 0) dcache_->check(cpu, cpu.load(root_word_));
}

void Namei::report(const RunFacts& facts, MetricSink& metrics) const {
  report_rate(facts, tallied_by_all(facts, kNameiOperations), metrics);
  metrics.value("throughput.files_created_per_s", "1/s", kHigher, "files created; each may be renamed, and is removed again",
                per_second(facts, tallied_by_all(facts, kLives)));
}

}  // namespace

WorkloadEntry namei_workload() {
  return {"namei",
          "The dentry cache alone: paths are walked; files are created, renamed and removed",
          declare<NameiOptions>(),
          make_workload<Namei>,
          {headlines::kOperations, {"throughput.files_created_per_s", "files created"}, headlines::kDcacheLock}};
}

}  // namespace linebounce::workloads
