// The database's processes: each does its work from one wait to the next. A CPU's program runs its processes in the order that
// its scheduler decides.
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

// Processes that commit together. All but the last wait on a System V semaphore; the last one writes the log for all and posts
// the semaphore. So every CPU sends wake-ups, in addition to those of completed I/O.
class CommitGroup {
 public:
  // `size`: how many processes commit together.
  CommitGroup(Kernel& kernel, Scheduler& scheduler, const std::string& name, int node, int size);

  // A process that may commit in this group. Must be created before the simulation starts.
  class Member {
   public:
    Member(Kernel& kernel, const Task& task, const std::string& name, int node);

   private:
    friend class CommitGroup;
    Object object_;
    const Task* task_;
  };

  // Returns true if this process completes the group: it must write the log and then call post(). If false, the caller must
  // call schedule() as long as waits() is true.
  bool join(Cpu& cpu, const Member& member);
  [[nodiscard]] bool waits(Cpu& cpu, const Member& member);
  // Wakes the processes whose commit the log covers: those that were waiting when the group was complete.
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

// A program's other memory accesses that miss the caches: to the kernel's other structures, or to the database's own data. They
// go to lines that all CPUs write, lines that one node's CPUs write, and memory that no cache holds. Each kind has its mean
// number of misses per OtherMemory::visit(); written lines also have a count.
struct OtherMemoryShape {
  double shared = 0;         // misses on lines that all CPUs write, with homes spread over the nodes
  double node_shared = 0;    // misses on lines that only the node's CPUs write
  double local_memory = 0;   // misses on the node's memory
  double remote_memory = 0;  // misses on the next node's memory
  int shared_lines = 1;
  int node_lines = 1;
};

class OtherMemory {
 public:
  // Places the lines as arrays whose names begin with `name`; results combine an array's lines. REQUIRES: the simulation has
  // not started.
  OtherMemory(Kernel& kernel, const std::string& name, const OtherMemoryShape& shape, const Pace& pace);

  // Executes `instructions`, with one visit's misses spread over them.
  void visit(Cpu& cpu, Random& random, std::int64_t instructions);

 private:
  // Lines that one CPU uses round-robin. They map to so few sets that each has been evicted when its turn comes again.
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
  std::uint64_t set_stride_ = 0;                   // bytes between lines that map to the same set
};

// Indices of the workload's tallies.
enum OltpTally { kTransactions, kReads, kWrites };

// Shared by all processes.
struct OltpSystem {
  Kernel& kernel;
  Scheduler& scheduler;
  Aio& aio;
  OtherMemory& user_memory;
  OtherMemory& kernel_memory;
  int devices = 1;
  std::int64_t user_instructions = 0;    // of a session, from one read to the next; mean
  std::int64_t writer_instructions = 0;  // of a writer, from one batch to the next; mean
  std::int64_t kernel_instructions = 0;  // of the kernel's other work, per submission
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
  // Submits transfers to random disks, divided among the contexts: one io_submit() per context. Does the kernel's other work
  // once.
  void submit(Cpu& cpu, std::span<AioContext* const> contexts, int transfers, bool write);

  OltpSystem& system_;
  const Task& task_;
  Random random_;
};

// A user's session, which reads and then commits with others.
std::unique_ptr<Process> make_foreground(OltpSystem& system, const Task& task, std::uint64_t seed, int node, int reads,
                                         CommitGroup& group);
// A process that writes changed blocks back. It keeps `depth` writes in flight over all its contexts. Whenever `batch` writes
// are done, it submits another batch, divided among the contexts. Errors: std::invalid_argument if a context's ring has fewer
// than depth + batch places, or if a batch has fewer writes than there are contexts.
std::unique_ptr<Process> make_writer(OltpSystem& system, const Task& task, std::uint64_t seed, int node, int contexts,
                                     int depth, int batch);

}  // namespace linebounce::workloads
