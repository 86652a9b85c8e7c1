// A load like httperf's on a web server, as the dentry cache sees it (OLS 2002, sections 2.3 and 5.6): it mostly reads.
//
// The shares of operations come from the paper's column TOTAL, for the baseline on 8 CPUs. For each of 100,031 connections it
// has: a socket's entry (d_alloc, d_instantiate and d_rehash once each); 150 d_lookup; 40 acquisitions of dcache_lock in
// link_path_walk (for a component ".."); and 9.3 dputs of a last reference (to the socket, and to files that nobody else has
// open). Here a connection has ten requests. Each request does four walks, with 15 components and 4 times ".." in all, and
// one of the walks opens the document.
//
// `serving_cpus` CPUs serve at a time, in turn, one connection each. The paper does not say how busy its server was. User
// time sets the rate.
#include <fmt/format.h>

#include <array>

#include "workloads/linux24/dcache/common.hpp"
#include "workloads/program/barrier.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/workload_entry.hpp"
#include "workloads/program/zipf.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kRequests = 0;  // tally
constexpr int kRequestsPerConnection = 10;
constexpr std::uint64_t kHttperfFirstPathName = 1, kHttperfFirstDirectoryName = 100, kHttperfFirstDocumentName = 1000,
                        kHttperfFirstSocketName = 1000000;
constexpr std::uint64_t kPathNames = 3;  // "usr", "local", "htdocs"

struct HttperfOptions {
  DcacheOptions dcache{.dentries = 2000};
  std::uint64_t directories = 10;
  int documents = 200;
  int zipf_milli = 1000;
  std::uint64_t serving_cpus = 3;
  double user_us = 600;
  std::int64_t data_lines = 256;
  double open_us = 50;

  void bind(ParameterBinder& parameters) {
    dcache.bind(parameters);
    parameters.number("directories", directories, 1, 100, "of documents");
    parameters.number("documents", documents, 1, 10000, "in all directories");
    parameters.number("zipf_milli", zipf_milli, 0, 8000,
                      "how unevenly documents are asked for: Zipf's exponent in thousandths");
    parameters.number("serving_cpus", serving_cpus, 1, 1000, "how many CPUs serve at a time; the others are idle");
    parameters.number("user_us", user_us, 0, 1e6, "mean time of a request outside the dentry cache");
    parameters.number("data_lines", data_lines, 0, 1e6,
                      "cache lines of documents and packets read in each request: they push entries out of the caches");
    parameters.number("open_us", open_us, 0, 1e6, "that a document is open");
  }
};

class Httperf final : public Workload {
 public:
  explicit Httperf(const Parameters& parameters) : options_(read_options<HttperfOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override;
  void run(Cpu& cpu) override;
  void report(const RunFacts& facts, MetricSink& metrics) const override;

 private:
  // The random state of one CPU.
  struct Process {
    Random random;
    PathTimes times;
    FileData& data;
  };
  void build(Cpu& cpu);
  Value accept(Cpu& cpu);
  void connection(Cpu& cpu, Process& process, Address root, std::uint64_t number);
  void request(Cpu& cpu, Process& process, Address root);
  Address walk(Cpu& cpu, Process& process, Address root, std::uint64_t directory);

  HttperfOptions options_;
  Zipf documents_ = Zipf(options_.documents, options_.zipf_milli);
  std::uint64_t seed_ = 0;
  DcacheParts parts_;
  Dcache* dcache_ = nullptr;
  std::int64_t user_ = 0;
  std::int64_t open_ = 0;
  Address root_word_ = 0;
  Address sockets_word_ = 0;
  Address waiting_ = 0;                 // how many connections CPUs have waited for so far
  Address closed_ = 0;                  // connections that have ended
  std::vector<FileData> data_;          // by CPU
  std::vector<Address> inodes_;         // inodes of directories first, then of documents
  std::vector<Address> socket_inodes_;  // by CPU
  FunctionId httpd_ = 0, request_ = 0, socket_ = 0;
  Barrier barrier_;
};

void Httperf::set_up(const WorkloadSetup& setting) {
  seed_ = setting.seed;
  parts_ = make_dcache_parts(options_.dcache, setting);
  dcache_ = parts_.dcache.get();
  user_ = cycles(options_.user_us, setting.machine);
  open_ = cycles(options_.open_us, setting.machine);
  AddressSpace& memory = setting.memory;
  httpd_ = memory.function("httpd", Mode::user);
  request_ = memory.function("sys_open", Mode::kernel);
  socket_ = memory.function("sock_map_fd", Mode::kernel);
  root_word_ = memory.place_array("root_directory", memory.line_bytes());
  sockets_word_ = root_word_ + 8;
  waiting_ = memory.place_array("accept_waiting", memory.line_bytes());
  closed_ = memory.place_array("accept_closed", memory.line_bytes());
  const std::uint64_t inodes = 1 + options_.directories + static_cast<std::uint64_t>(options_.documents);
  for (std::uint64_t i = 0; i < inodes; ++i) inodes_.push_back(place_inode(setting, "inode", i));
  for (int cpu = 0; cpu < setting.machine.cpus; ++cpu) {
    data_.emplace_back(setting, fmt::format("file_data[{}]", cpu));
    socket_inodes_.push_back(place_inode(setting, "socket", static_cast<std::uint64_t>(cpu)));
  }
  barrier_ = Barrier(memory, "start", setting.machine.cpus);
}

void Httperf::build(Cpu& cpu) {
  const Address root = dcache_->d_alloc(cpu, kNoDentry, name_of(0));
  Address parent = root;
  for (std::uint64_t i = 0; i < kPathNames; ++i)
    parent = dcache_->add_in_use(cpu, parent, name_of(kHttperfFirstPathName + i), inodes_[0]);
  const Address htdocs = parent;
  for (std::uint64_t directory = 0; directory < options_.directories; ++directory) {
    const Address inode = inodes_[1 + directory];
    parent = dcache_->add_in_use(cpu, htdocs, name_of(kHttperfFirstDirectoryName + directory), inode);
    for (std::uint64_t document = directory; document < inodes_.size() - 1 - options_.directories;
         document += options_.directories) {
      const OneFile files(inodes_[1 + options_.directories + document]);
      dcache_->dput(cpu, dcache_->lookup_hash(cpu, parent, name_of(kHttperfFirstDocumentName + document), files));
    }
  }
  const Address sockets = dcache_->d_alloc(cpu, kNoDentry, name_of(kHttperfFirstSocketName - 1));
  cpu.store(root_word_, root);
  cpu.store(sockets_word_, sockets);
}

// Waits for a connection; the longest-waiting CPU gets the next one. Returns the connection's number.
Value Httperf::accept(Cpu& cpu) {
  const FunctionScope scope(cpu, dcache_->idle_function());
  const Value number = cpu.fetch_add(waiting_, 1);
  cpu.spin_until_acquire(closed_, [=, this](Value closed) { return number < closed + options_.serving_cpus; });
  return number;
}

// Walks to "usr/local/htdocs/DIRECTORY", and back up by "..".
Address Httperf::walk(Cpu& cpu, Process& process, Address root, std::uint64_t directory) {
  std::array<Name, kPathNames + 1> path;
  for (std::uint64_t i = 0; i < kPathNames; ++i) path[i] = name_of(kHttperfFirstPathName + i);
  path[kPathNames] = name_of(kHttperfFirstDirectoryName + directory);
  return dcache_->link_path_walk(cpu, root, path, process.times);
}

void Httperf::request(Cpu& cpu, Process& process, Address root) {
  {
    const FunctionScope scope(cpu, httpd_);
    compute_about(cpu, process.random, user_);
    process.data.read(cpu, options_.data_lines);
    cpu.now();
  }
  const FunctionScope scope(cpu, request_);
  const auto document = static_cast<std::uint64_t>(documents_.draw(process.random));
  const std::uint64_t directory = document % options_.directories;
  // Of four walks, two go to a directory and return to its parent, one goes only to the parent, and one ends at the document.
  for (int i = 0; i < 2; ++i) dcache_->dput(cpu, dcache_->follow_dotdot(cpu, walk(cpu, process, root, directory)));
  const std::array<Name, 1> shorter = {name_of(kHttperfFirstPathName)};
  dcache_->dput(cpu, dcache_->follow_dotdot(cpu, dcache_->link_path_walk(cpu, root, shorter, process.times)));
  const Address htdocs = dcache_->follow_dotdot(cpu, walk(cpu, process, root, directory));
  const Address parent = dcache_->d_lookup(cpu, htdocs, name_of(kHttperfFirstDirectoryName + directory));
  dcache_->dput(cpu, htdocs);
  process.times.before_lookup(cpu);
  const OneFile files(inodes_[1 + options_.directories + document]);
  const Address dentry = dcache_->d_lookup(cpu, parent, name_of(kHttperfFirstDocumentName + document));
  process.times.after_lookup(cpu);
  dcache_->dput(cpu, parent);
  cpu.compute(open_);
  dcache_->dput(cpu, dentry);
  cpu.tally(kRequests);
}

void Httperf::connection(Cpu& cpu, Process& process, Address root, std::uint64_t number) {
  const Address sockets = cpu.load(sockets_word_);
  const Address inode = socket_inodes_[cpu.id().value];
  Address socket = kNoDentry;
  {
    const FunctionScope scope(cpu, socket_);
    socket = dcache_->d_alloc(cpu, sockets, name_of(kHttperfFirstSocketName + number));
    dcache_->set_delete(cpu, socket);
    dcache_->iget(cpu, inode);
    dcache_->d_add(cpu, socket, inode);
  }
  for (int i = 0; i < kRequestsPerConnection; ++i) {
    request(cpu, process, root);
    dcache_->quiescent(cpu);
  }
  dcache_->dput(cpu, socket);
}

void Httperf::run(Cpu& cpu) {
  const auto self = static_cast<std::uint64_t>(cpu.id().value);
  Process process{Random(seed_, self, 0), PathTimes(parts_.costs, Random(seed_, self, 1)), data_[self]};
  dcache_->start(cpu);
  if (self == 0) build(cpu);
  barrier_.wait(cpu);
  const Address root = cpu.load(root_word_);
  for (;;) {
    const Value number = accept(cpu);
    connection(cpu, process, root, number);
    cpu.fetch_add(closed_, 1);
  }
}

void Httperf::report(const RunFacts& facts, MetricSink& metrics) const {
  report_rate(facts, tallied_by_all(facts, kRequests), metrics);
}

}  // namespace

WorkloadEntry httperf_workload() {
  return {"httperf",
          "The dentry cache under a web server: path walks, few changes",
          declare<HttperfOptions>(),
          make_workload<Httperf>,
          {headlines::kOperations, headlines::kDcacheLock, headlines::kLatency}};
}

}  // namespace linebounce::workloads
