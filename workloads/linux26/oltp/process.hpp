// The database's processes: what each does between two waits. One CPU's program runs them in turn, as its scheduler decides.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "workloads/linux26/aio/aio.hpp"
#include "workloads/linux26/kernel/kernel.hpp"
#include "workloads/linux26/scheduler/scheduler.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::workloads {

// Processes that commit together: the first ones wait on a System V semaphore; the last one writes the log for all of them and
// posts them. So wake-ups come from every CPU, in addition to those by completed I/O.
class CommitGroup {
 public:
  // `size`: how many processes commit together.
  CommitGroup(Kernel& kernel, Scheduler& scheduler, const std::string& name, int node, int size);

  // A process that may commit in this group, made before the simulation.
  class Member {
   public:
    Member(Kernel& kernel, const Task& task, const std::string& name, int node);

   private:
    friend class CommitGroup;
    Object object_;
    const Task* task_;
  };

  // Returns true if this process is the last of the group: it must write the log and then call post(). On false it must call
  // schedule() while waits() is true.
  bool join(Cpu& cpu, const Member& member);
  [[nodiscard]] bool waits(Cpu& cpu, const Member& member);
  // Wakes the processes that waited when the last one joined.
  void post(Cpu& cpu);

 private:
  Kernel& kernel_;
  Scheduler& scheduler_;
  Object array_;
  MeteredLock* lock_;
  int size_;
  FieldPlace pending_, semval_, ctime_, list_, sleeper_, status_;
  FunctionId semtimedop_, update_queue_;
};

// The rest of a program's memory, as far as it misses the caches: the kernel's other structures, or the database's own data.
// There are lines that all CPUs write, lines that a node's CPUs write, and memory that no cache holds any more. For each:
// the mean number of misses in one OtherMemory::visit(). For written lines also: how many there are.
struct OtherMemoryShape {
  double shared = 0;         // misses on lines that all CPUs write, with homes spread over the nodes
  double node_shared = 0;    // misses on lines that the node's CPUs write
  double local_memory = 0;   // misses on the node's memory
  double remote_memory = 0;  // misses on the next node's memory
  int shared_lines = 1;
  int node_lines = 1;
};

class OtherMemory {
 public:
  // Before the simulation. The lines are arrays called NAME_..., which results do not tell apart.
  OtherMemory(Kernel& kernel, const std::string& name, const OtherMemoryShape& shape, const Pace& pace);

  // Executes these instructions, with the misses of one visit spread over them.
  void visit(Cpu& cpu, Random& random, std::int64_t instructions);

 private:
  // Lines that one CPU uses one after the other, from so few sets that none is in a cache when its turn comes again.
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

// Indices of a CPU's tallies.
enum OltpTally { kTransactions, kReads, kWrites };

// Shared by all processes.
struct OltpSystem {
  Kernel& kernel;
  Scheduler& scheduler;
  Aio& aio;
  OtherMemory& user_memory;
  OtherMemory& kernel_memory;
  int devices = 1;
  std::int64_t user_instructions = 0;    // mean, of a session from one read to the next
  std::int64_t writer_instructions = 0;  // of a writer, from one batch to the next
  std::int64_t kernel_instructions = 0;  // the kernel's other work for each submission
  FunctionId user = 0, other_kernel = 0;
  Object inode;  // a structure inode_data
  MeteredLock* inode_lock = nullptr;
  FieldPlace inode_global;
  FieldPlace buffer;  // a field of size_1024
  FunctionId mark_inode_dirty = 0;
};

class Process {
 public:
  virtual ~Process() = default;
  // Runs until the process waits; the CPU must then call schedule().
  virtual void run(Cpu& cpu) = 0;
  [[nodiscard]] const Task& task() const { return task_; }

 protected:
  Process(OltpSystem& system, const Task& task, std::uint64_t seed, std::uint64_t number)
      : system_(system), task_(task), random_(seed, number, 7) {}

  void compute(Cpu& cpu, std::int64_t mean_instructions);
  // Transfers to random disks, divided among the contexts: one io_submit() for each context, and the kernel's other work once.
  void submit(Cpu& cpu, std::span<AioContext* const> contexts, int transfers, bool write);

  OltpSystem& system_;
  const Task& task_;
  Random random_;
};

// A user's session: reads, then commits with others.
std::unique_ptr<Process> make_foreground(OltpSystem& system, const Task& task, std::uint64_t seed, int node, int reads,
                                         CommitGroup& group);
// Writes changed blocks back. Keeps `depth` writes in flight, in all its contexts together, and submits a batch whenever that
// many are done; each context has its share of every batch. Errors: std::invalid_argument, if a context's ring has no room for
// depth + batch, or a batch is less than a write for each context.
std::unique_ptr<Process> make_writer(OltpSystem& system, const Task& task, std::uint64_t seed, int node, int contexts,
                                     int depth, int batch);

}  // namespace linebounce::workloads
