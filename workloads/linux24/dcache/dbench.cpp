// A load as dbench's on a file system in memory, as the dentry cache sees it (OLS 2002, sections 2 to 5): clients that look up,
// create, unlink and rename files in directories of their own, below one that all share.
//
// The shares are the paper's TOTAL column of the baseline on 8 CPUs (2.86 million walks: d_lookup / 4.45):
//   unlinks    233,290 d_delete = 8.2 %; as many creates, for d_instantiate = d_alloc + creates (352,739 = 119,448 + 233,291)
//   renames    45,800 d_move = 1.6 %
//   shrink_dcache_parent (of rmdir) 2,876 = 0.1 %: select_parent runs until it finds none, 6,506 times, of which 3,630 prune
//   4.45 components a walk: walks of 4 to a directory and of 5 to a file. That makes also 0.48 dputs of a last reference a walk
//   (1,384,623), for directories that have entries in the cache are always in use.
// Beside the dentry cache a walk has five sections under lru_list_lock (buffers) and a short one under the Big Kernel Lock
// (blocks of files); what changes directories holds the Big Kernel Lock, and the truncation of what was unlinked holds it long.
#include <fmt/format.h>

#include <array>

#include "models/failure.hpp"
#include "workloads/linux24/dcache/client_tree.hpp"
#include "workloads/linux24/dcache/common.hpp"
#include "workloads/program/barrier.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kPathWalks = 0;  // tally

// Counts in ten thousand walks.
constexpr std::uint64_t kUnlinks = 820;
constexpr std::uint64_t kCreates = 820;
constexpr std::uint64_t kRenames = 160;
constexpr std::uint64_t kShrinks = 10;
constexpr std::uint64_t kOpensOfRest = 3180;  // chosen so that 45 % of all walks end at a file
constexpr std::uint64_t kAllParts = 10000;

// How many names have no dentry at the start: about as many as in the steady state, where 4.2 % of all walks need a new dentry.
// These are the walks to files (45 %) that reach such a name.
constexpr std::uint64_t kAbsentAtStart = 950;

constexpr std::uint64_t kClientsName = 1, kDmtmpName = 2, kDbenchFirstClientName = 100, kDbenchFirstDirectoryName = 500;

struct Client {
  std::vector<Name> path;  // the path to the client's directories: "clients", the client's own name, "~dmtmp"
  std::vector<ClientDirectory> directories;
};

struct DbenchOptions {
  DcacheOptions dcache{.dentries = 8000};
  std::uint64_t clients = 24;
  std::uint64_t directories = 8;
  std::uint64_t files_per_directory = 30;
  double user_us = 5;
  std::int64_t data_lines = 128;
  std::int64_t lru_list_sections = 5;
  double lru_list_section_us = 9.3;
  double get_block_us = 3;
  double before_walk_us = 10;
  double metadata_us = 5;
  double truncate_us = 200;
  double open_us = 20;
  std::int64_t walks_per_cpu = 0;

  void bind(ParameterBinder& parameters) {
    dcache.bind(parameters);
    parameters.number("clients", clients, 1, 1000, "of dbench; each stays on one CPU");
    parameters.number("directories", directories, 1, 100, "of each client");
    parameters.number("files_per_directory", files_per_directory, 2, 1000, "names; half of them exist");
    parameters.number("user_us", user_us, 0, 1e6, "mean time between two walks that is spent in no lock");
    parameters.number("data_lines", data_lines, 0, 1e6,
                      "cache lines of files' data read between two walks: they push entries out of the caches");
    parameters.number("lru_list_sections", lru_list_sections, 0, 100, "under lru_list_lock between two walks");
    parameters.number("lru_list_section_us", lru_list_section_us, 0, 1e4, "mean of each");
    parameters.number("get_block_us", get_block_us, 0, 1e4, "mean of a section under the Big Kernel Lock before each walk");
    parameters.number("before_walk_us", before_walk_us, 0, 1e4, "mean from there to the walk");
    parameters.number("metadata_us", metadata_us, 0, 1e4, "mean that a change of a directory holds the Big Kernel Lock");
    parameters.number("truncate_us", truncate_us, 0, 1e4, "mean that an unlinked file's truncation holds it, exponential");
    parameters.number("open_us", open_us, 0, 1e4, "that half of the entries found are used for");
    parameters.number("walks_per_cpu", walks_per_cpu, 0, 1e9,
                      "0: until the measured time is over; else the whole cache is checked at the end");
  }
};

class Dbench final : public Workload {
 public:
  explicit Dbench(const Parameters& parameters) : options_(read_options<DbenchOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override;
  void run(Cpu& cpu) override;
  [[nodiscard]] bool ends() const override { return options_.walks_per_cpu > 0; }
  void report(const RunFacts& facts, MetricSink& metrics) const override;

 private:
  struct Functions {
    FunctionId dbench, refile_buffer, get_block, vfs_create, vfs_unlink, vfs_rename, truncate, open;
  };
  struct Times {  // cycles
    std::int64_t user = 0, buffers = 0, block = 0, before_walk = 0, metadata = 0, truncate = 0, open = 0;
  };
  // One CPU's program.
  struct Program {
    Cpu& cpu;
    Random random;
    PathTimes times;
    std::vector<Client*> clients;
    FileData& data;
  };

  void build(Program& program);
  void outside(Program& program);
  void section(Program& program, MeteredLock& lock, FunctionId function, std::int64_t mean);
  void walk(Program& program);
  void stat(Program& program, Client& client, std::size_t directory);
  void open(Program& program, Client& client, std::size_t directory);
  bool create(Program& program, Client& client, std::size_t directory);
  bool unlink(Program& program, Client& client, std::size_t directory);
  bool rename(Program& program, Client& client, std::size_t directory);
  Address walk_to(Program& program, const Client& client, std::size_t directory);
  Address last(Program& program, Address parent, const ClientDirectory& directory, std::size_t file);
  void close(Program& program, Address dentry);

  DbenchOptions options_;
  std::uint64_t seed_ = 0;
  DcacheParts parts_;
  Dcache* dcache_ = nullptr;
  Times time_;
  Functions function_{};
  MeteredLock* lru_list_lock_ = nullptr;
  MeteredLock* kernel_flag_ = nullptr;
  Address buffers_ = 0;
  Address root_word_ = 0;  // where the first CPU publishes the directory "clients" for the others
  Address shared_inode_ = 0;
  std::vector<Client> clients_;
  std::vector<FileData> data_;  // by CPU
  int cpus_ = 0;
  Barrier barrier_;
};

void Dbench::set_up(const WorkloadSetup& setting) {
  seed_ = setting.seed;
  cpus_ = setting.machine.cpus;
  parts_ = make_dcache_parts(options_.dcache, setting);
  dcache_ = parts_.dcache.get();
  AddressSpace& memory = setting.memory;
  for (int cpu = 0; cpu < cpus_; ++cpu) data_.emplace_back(setting, fmt::format("file_data[{}]", cpu));
  const auto in_cycles = [&](double us) { return cycles(us, setting.machine); };
  time_ = {.user = in_cycles(options_.user_us),
           .buffers = in_cycles(options_.lru_list_section_us),
           .block = in_cycles(options_.get_block_us),
           .before_walk = in_cycles(options_.before_walk_us),
           .metadata = in_cycles(options_.metadata_us),
           .truncate = in_cycles(options_.truncate_us),
           .open = in_cycles(options_.open_us)};
  function_ = {.dbench = memory.function("dbench", Mode::user),
               .refile_buffer = memory.function("refile_buffer", Mode::kernel),
               .get_block = memory.function("ext2_get_block", Mode::kernel),
               .vfs_create = memory.function("vfs_create", Mode::kernel),
               .vfs_unlink = memory.function("vfs_unlink", Mode::kernel),
               .vfs_rename = memory.function("vfs_rename", Mode::kernel),
               .truncate = memory.function("ext2_truncate", Mode::kernel),
               .open = memory.function("sys_open", Mode::kernel)};
  lru_list_lock_ = &setting.locks.create(options_.dcache.lock, "lru_list_lock");
  kernel_flag_ = &setting.locks.create(options_.dcache.lock, "kernel_flag");
  buffers_ = memory.place_array("lru_list", memory.line_bytes());
  barrier_ = Barrier(memory, "start", cpus_);
  root_word_ = memory.place_array("clients_directory", memory.line_bytes());
  shared_inode_ = place_inode(setting, "clients_inode", 0);
  std::uint64_t inode = 0;
  for (std::uint64_t client = 0; client < options_.clients; ++client) {
    clients_.emplace_back();
    clients_.back().path = {name_of(kClientsName), name_of(kDbenchFirstClientName + client), name_of(kDmtmpName)};
    for (std::uint64_t directory = 0; directory < options_.directories; ++directory) {
      std::vector<Address> inodes;
      for (std::size_t i = 0; i <= options_.files_per_directory; ++i) inodes.push_back(place_inode(setting, "inode", inode++));
      clients_.back().directories.emplace_back(std::move(inodes));
    }
  }
}

// ---- the tree at the start ----

void Dbench::build(Program& program) {
  Cpu& cpu = program.cpu;
  if (cpu.id().value == 0) {
    const Address root = dcache_->d_alloc(cpu, kNoDentry, name_of(0));
    dcache_->iget(cpu, shared_inode_);
    dcache_->d_instantiate(cpu, root, shared_inode_);
    dcache_->add_in_use(cpu, root, name_of(kClientsName), shared_inode_);
    cpu.store(root_word_, root);
  }
  barrier_.wait(cpu);
  const Address root = cpu.load(root_word_);
  for (Client* client : program.clients) {
    const Address clients = dcache_->d_lookup(cpu, root, client->path[0]);
    const Address own = dcache_->add_in_use(cpu, clients, client->path[1], shared_inode_);
    const Address dmtmp = dcache_->add_in_use(cpu, own, client->path[2], shared_inode_);
    dcache_->dput(cpu, clients);
    for (std::size_t number = 0; number < client->directories.size(); ++number) {
      ClientDirectory& directory = client->directories[number];
      const Address parent =
          dcache_->add_in_use(cpu, dmtmp, name_of(kDbenchFirstDirectoryName + number), directory.own_inode());
      for (std::size_t file = 0; file < directory.names(); ++file) {
        if (program.random.below(2) == 0) directory.create(file);
        if (program.random.below(kAllParts) < kAbsentAtStart) continue;
        dcache_->dput(cpu, dcache_->lookup_hash(cpu, parent, ClientDirectory::name(file), directory));
      }
    }
  }
  barrier_.wait(cpu);
}

// ---- what a client does ----

void Dbench::section(Program& program, MeteredLock& lock, FunctionId function, std::int64_t mean) {
  const FunctionScope scope(program.cpu, function);
  lock.acquire(program.cpu);
  compute_about(program.cpu, program.random, mean);
  lock.release(program.cpu);
}

// Between two walks, the client computes and touches file data.
void Dbench::outside(Program& program) {
  Cpu& cpu = program.cpu;
  const std::int64_t sections = options_.lru_list_sections;
  for (std::int64_t i = 0; i <= sections; ++i) {
    {
      const FunctionScope scope(cpu, function_.dbench);
      compute_about(cpu, program.random, time_.user / (sections + 1));
      program.data.read(cpu, options_.data_lines / (sections + 1));
      cpu.now();  // an interrupt that is due now then finds user code
    }
    if (i < sections) section(program, *lru_list_lock_, function_.refile_buffer, time_.buffers);
  }
  section(program, *kernel_flag_, function_.get_block, time_.block);
  compute_about(cpu, program.random, time_.before_walk);
}

Address Dbench::walk_to(Program& program, const Client& client, std::size_t directory) {
  Cpu& cpu = program.cpu;
  const std::array<Name, 4> path = {client.path[0], client.path[1], client.path[2],
                                    name_of(kDbenchFirstDirectoryName + directory)};
  const Address root = cpu.load(root_word_);
  return dcache_->link_path_walk(cpu, root, path, program.times);
}

Address Dbench::last(Program& program, Address parent, const ClientDirectory& directory, std::size_t file) {
  Cpu& cpu = program.cpu;
  program.times.before_lookup(cpu);
  const Address dentry = dcache_->lookup_hash(cpu, parent, ClientDirectory::name(file), directory);
  program.times.after_lookup(cpu);
  return dentry;
}

// Releases half of the found entries at once, and keeps the others in use for a while.
void Dbench::close(Program& program, Address dentry) {
  if (program.random.below(2) == 0) program.cpu.compute(time_.open);
  dcache_->dput(program.cpu, dentry);
}

void Dbench::stat(Program& program, Client& client, std::size_t directory) {
  close(program, walk_to(program, client, directory));
}

void Dbench::open(Program& program, Client& client, std::size_t directory) {
  ClientDirectory& files = client.directories[directory];
  const std::size_t file = program.random.below(files.names());
  const Address parent = walk_to(program, client, directory);
  const Address dentry = last(program, parent, files, file);
  dcache_->dput(program.cpu, parent);
  close(program, dentry);
}

bool Dbench::create(Program& program, Client& client, std::size_t directory) {
  Cpu& cpu = program.cpu;
  ClientDirectory& files = client.directories[directory];
  const auto file = files.draw(program.random, false);
  if (!file) return false;
  const Address parent = walk_to(program, client, directory);
  const Address dentry = last(program, parent, files, *file);
  {
    const FunctionScope scope(cpu, function_.vfs_create);
    kernel_flag_->acquire(cpu);
    compute_about(cpu, program.random, time_.metadata);
    const Address inode = files.create(*file);
    dcache_->iget(cpu, inode);
    dcache_->d_instantiate(cpu, dentry, inode);
    kernel_flag_->release(cpu);
  }
  dcache_->dput(cpu, parent);
  close(program, dentry);
  return true;
}

bool Dbench::unlink(Program& program, Client& client, std::size_t directory) {
  Cpu& cpu = program.cpu;
  ClientDirectory& files = client.directories[directory];
  const auto file = files.draw(program.random, true);
  if (!file) return false;
  const Address parent = walk_to(program, client, directory);
  const Address dentry = last(program, parent, files, *file);
  section(program, *kernel_flag_, function_.vfs_unlink, time_.metadata);
  files.unlink(*file);
  dcache_->d_delete(cpu, dentry);
  {
    const FunctionScope scope(cpu, function_.truncate);
    const std::int64_t length = draw_exponential(program.random, time_.truncate);
    kernel_flag_->acquire(cpu);
    cpu.compute(length);
    kernel_flag_->release(cpu);
  }
  dcache_->dput(cpu, dentry);
  dcache_->dput(cpu, parent);
  return true;
}

bool Dbench::rename(Program& program, Client& client, std::size_t directory) {
  Cpu& cpu = program.cpu;
  ClientDirectory& files = client.directories[directory];
  const auto from = files.draw(program.random, true);
  const auto to = files.draw(program.random, false);
  if (!from || !to) return false;
  const Address old_parent = walk_to(program, client, directory);
  const Address new_parent = walk_to(program, client, directory);
  const Address old_dentry = last(program, old_parent, files, *from);
  const Address new_dentry = last(program, new_parent, files, *to);
  section(program, *kernel_flag_, function_.vfs_rename, time_.metadata);
  files.rename(*from, *to);
  dcache_->d_move(cpu, old_dentry, new_dentry);
  dcache_->dput(cpu, new_dentry);
  dcache_->dput(cpu, old_dentry);
  dcache_->dput(cpu, new_parent);
  dcache_->dput(cpu, old_parent);
  return true;
}

void Dbench::walk(Program& program) {
  const FunctionScope scope(program.cpu, function_.open);
  Random& random = program.random;
  Client& client = *program.clients[random.below(program.clients.size())];
  const std::size_t directory = random.below(client.directories.size());
  std::uint64_t drawn = random.below(kAllParts);
  const auto is = [&drawn](std::uint64_t share) {
    const bool chosen = drawn < share;
    drawn -= chosen ? 0 : share;
    return chosen;
  };
  if (is(kUnlinks)) {
    if (unlink(program, client, directory)) return;
  } else if (is(kCreates)) {
    if (create(program, client, directory)) return;
  } else if (is(kRenames)) {
    if (rename(program, client, directory)) return;
  } else if (is(kShrinks)) {
    const Address parent = walk_to(program, client, directory);
    dcache_->shrink_dcache_parent(program.cpu, parent);
    dcache_->dput(program.cpu, parent);
    return;
  }
  if (random.below(kAllParts) < kOpensOfRest)
    open(program, client, directory);
  else
    stat(program, client, directory);
}

void Dbench::run(Cpu& cpu) {
  const auto self = static_cast<std::uint64_t>(cpu.id().value);
  Program program{cpu, Random(seed_, self, 0), PathTimes(parts_.costs, Random(seed_, self, 1)), {}, data_[self]};
  for (std::size_t client = 0; client < clients_.size(); ++client) {
    if (static_cast<int>(client) % cpus_ == cpu.id().value) program.clients.push_back(&clients_[client]);
  }
  dcache_->start(cpu);
  build(program);
  for (std::int64_t done = 0; options_.walks_per_cpu == 0 || done < options_.walks_per_cpu; ++done) {
    outside(program);
    walk(program);
    cpu.tally(kPathWalks);
    dcache_->quiescent(cpu);
  }
  barrier_.wait(cpu);
  if (cpu.id().value == 0) dcache_->check(cpu, cpu.load(root_word_));
}

void Dbench::report(const RunFacts& facts, MetricSink& metrics) const {
  report_rate(facts, tallied_by_all(facts, kPathWalks), metrics);
}

}  // namespace

WorkloadEntry dbench_workload() {
  return {"dbench",
          "The dentry cache with clients that look up, create, unlink and rename files",
          declare<DbenchOptions>(),
          make_workload<Dbench>,
          {headlines::kOperations, headlines::kDcacheLock, headlines::kLatency}};
}

}  // namespace linebounce::workloads
