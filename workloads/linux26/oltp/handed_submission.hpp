// A block layer that hands each I/O to a CPU which its adapter interrupts, and submits it there, so that submission and
// completion use one CPU's caches (OLS 2007, section 4.7). Not in 2.6.20.
#pragma once

#include <deque>
#include <vector>

#include "workloads/linux26/io/block_layer.hpp"

namespace linebounce::workloads {

class HandedSubmission final : public BlockLayer {
 public:
  // Before the simulation. `block` submits; it should interrupt the CPU that it is called on
  // (BlockOptions::complete_on_submitter), or I/Os complete on other CPUs than those that submit them.
  HandedSubmission(Kernel& kernel, BlockLayer& block, const IoTopology& topology);

  // Returns when the I/O is on the list of the other CPU, which is interrupted if the list was empty.
  void submit(Cpu& cpu, Io& io) override;
  // Empty: the submitting CPU unplugs by itself, for each I/O.
  void unplug(Cpu& /*cpu*/, int /*device*/) override {}

 private:
  struct Queue {
    Object object;
    MeteredLock* lock = nullptr;
    std::deque<Io*> ios;  // the bios on the list; guarded by its lock
  };

  int target_of(const Cpu& cpu, int device);
  Io* take(Cpu& cpu, Queue& queue);
  void submit_all(Cpu& cpu);

  Kernel& kernel_;
  BlockLayer& block_;
  IoTopology topology_;
  std::vector<Queue> queues_;       // by CPU
  std::vector<std::size_t> turns_;  // by CPU: which of an adapter's CPUs gets the next I/O
  FieldPlace head_, tail_, next_;
  FunctionId hand_off_, submit_handed_;
  int vector_ = 0, softirq_ = 0;
};

}  // namespace linebounce::workloads
