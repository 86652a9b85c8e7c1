// A block layer that submits each I/O on a CPU that the I/O's adapter interrupts. Submission and completion then use the same
// CPU's caches (OLS 2007, section 4.7). Linux 2.6.20 does not have this.
#pragma once

#include <deque>
#include <vector>

#include "workloads/linux26/io/block_layer.hpp"

namespace linebounce::workloads {

class HandedSubmission final : public BlockLayer {
 public:
  // `block` does the submission. It should interrupt the CPU that submits (BlockOptions::complete_on_submitter); otherwise I/Os
  // complete on other CPUs. REQUIRES: the simulation has not started.
  HandedSubmission(Kernel& kernel, BlockLayer& block, const IoTopology& topology);

  // Puts the I/O on another CPU's list and returns. Interrupts that CPU if its list was empty.
  void submit(Cpu& cpu, Io& io) override;
  // Does nothing, because the submitting CPU unplugs the queue after each I/O.
  void unplug(Cpu& /*cpu*/, int /*device*/) override {}

 private:
  struct Queue {
    Object object;
    MeteredLock* lock = nullptr;
    std::deque<Io*> ios;  // I/Os on the list; protected by `lock`
  };

  int target_of(const Cpu& cpu, int device);
  Io* take(Cpu& cpu, Queue& queue);
  void submit_all(Cpu& cpu);

  Kernel& kernel_;
  BlockLayer& block_;
  IoTopology topology_;
  std::vector<Queue> queues_;       // by CPU
  std::vector<std::size_t> turns_;  // by CPU: counts its I/Os, to choose among the adapter's CPUs in turn
  FieldPlace head_, tail_, next_;
  FunctionId hand_off_, submit_handed_;
  int vector_ = 0, softirq_ = 0;
};

}  // namespace linebounce::workloads
