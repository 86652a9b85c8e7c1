// The processes of the database: what each does from one wait to the next. One CPU's program runs them in turn, as its
// scheduler says.
#pragma once

#include <memory>
#include <span>

#include "workloads/linux26/aio/aio.hpp"
#include "workloads/linux26/oltp/commit_group.hpp"
#include "workloads/linux26/oltp/other_memory.hpp"

namespace linebounce::workloads {

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
