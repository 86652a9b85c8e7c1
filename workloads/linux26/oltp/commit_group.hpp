// Processes that commit together: the first ones wait on a System V semaphore, the last one writes the log for all of them and
// then posts them. So wake-ups come from every CPU, beside those of completed I/O.
#pragma once

#include <string>

#include "workloads/linux26/scheduler/scheduler.hpp"

namespace linebounce::workloads {

class CommitGroup {
 public:
  // `size`: how many commit together.
  CommitGroup(Kernel& kernel, Scheduler& scheduler, const std::string& name, int node, int size);

  // A process that may commit here. Made before the simulation.
  class Member {
   public:
    Member(Kernel& kernel, const Task& task, const std::string& name, int node);

   private:
    friend class CommitGroup;
    Object object_;
    const Task* task_;
  };

  // True: this process is the last of the group, must write the log and then call post(). False: it waits: while waits() says
  // so, it must call schedule().
  bool join(Cpu& cpu, const Member& member);
  [[nodiscard]] bool waits(Cpu& cpu, const Member& member);
  // Wakes those who waited when the last one joined.
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

}  // namespace linebounce::workloads
