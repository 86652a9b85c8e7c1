// The processes of the database: what each does from one wait to the next. One CPU's program runs them in turn, as its
// scheduler says.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "workloads/linux26/aio/aio.hpp"
#include "workloads/linux26/kernel/kernel.hpp"
#include "workloads/linux26/oltp/commit_group.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::workloads {

// The rest of a program's memory, as far as it misses the caches: the kernel's other structures, or the database's own
// data. Lines that all CPUs write, lines that a node's CPUs write, and memory that no cache has any more: misses of one visit,
// mean, and among how many lines they are spread.
struct OtherMemoryShape {
  double shared = 0;         // of lines that all CPUs write, homes spread over the nodes
  double node_shared = 0;    // of lines that the CPUs of the node write
  double local_memory = 0;   // of the node's memory
  double remote_memory = 0;  // of the next node's
  int shared_lines = 1;
  int node_lines = 1;
};

class OtherMemory {
 public:
  // Before the simulation. Its lines are arrays called NAME_...: they are not told apart.
  OtherMemory(Kernel& kernel, const std::string& name, const OtherMemoryShape& shape, const Pace& pace);

  // These instructions, and the misses of one visit spread over them.
  void visit(Cpu& cpu, Random& random, std::int64_t instructions);

 private:
  // Lines of one CPU's that come one after the other, from so few sets that none is in a cache when its turn comes again.
  struct Stream {
    Address begin = 0;
    std::uint64_t next = 0;
  };
  enum Kind { kShared, kNodeShared, kLocalMemory, kRemoteMemory, kKinds };

  void miss(Cpu& cpu, Random& random, Kind kind);
  [[nodiscard]] Address next_line(Stream& stream) const;

  Kernel& kernel_;
  OtherMemoryShape shape_;
  Pace pace_;
  std::vector<Address> shared_;
  std::vector<std::vector<Address>> node_shared_;  // by node
  std::vector<Stream> local_, remote_;             // by CPU
  std::uint64_t set_stride_ = 0;                   // bytes from one line to the next of the same set
};

// Of a CPU's tallies.
enum OltpTally { kTransactions, kReads, kWrites };

// What all processes use.
struct OltpSystem {
  Kernel& kernel;
  Scheduler& scheduler;
  Aio& aio;
  OtherMemory& user_memory;
  OtherMemory& kernel_memory;
  int devices = 1;
  std::int64_t user_instructions = 0;    // of a session from one read to the next, mean
  std::int64_t writer_instructions = 0;  // of a writer from one batch to the next
  std::int64_t kernel_instructions = 0;  // of the kernel's other work, for each submission
  FunctionId user = 0, other_kernel = 0;
  Object inode;  // of structure inode_data
  MeteredLock* inode_lock = nullptr;
  FieldPlace inode_global;
  FieldPlace buffer;  // of size_1024
  FunctionId mark_inode_dirty = 0;
};

class Process {
 public:
  virtual ~Process() = default;
  // Goes on until the process waits: then the CPU must call schedule().
  virtual void run(Cpu& cpu) = 0;
  [[nodiscard]] const Task& task() const { return task_; }

 protected:
  Process(OltpSystem& system, const Task& task, std::uint64_t seed, std::uint64_t number)
      : system_(system), task_(task), random_(seed, number, 7) {}

  void compute(Cpu& cpu, std::int64_t mean_instructions);
  // Transfers to random disks, divided over the contexts: an io_submit() for each, the kernel's other work once.
  void submit(Cpu& cpu, std::span<AioContext* const> contexts, int transfers, bool write);

  OltpSystem& system_;
  const Task& task_;
  Random random_;
};

// A user's session: reads, then commits with others.
std::unique_ptr<Process> make_foreground(OltpSystem& system, const Task& task, std::uint64_t seed, int node, int reads,
                                         CommitGroup& group);
// Writes changed blocks back: keeps `depth` writes under way, in all its contexts together, and submits a batch whenever that
// many are done; each context has its share of every batch. Errors: std::invalid_argument, if a context's ring has no room for
// depth + batch, or a batch is less than a write for each context.
std::unique_ptr<Process> make_writer(OltpSystem& system, const Task& task, std::uint64_t seed, int node, int contexts,
                                     int depth, int batch);

}  // namespace linebounce::workloads
