// The path of an I/O from a file system's bio to the disk and back: block layer (request queues, tags, plugging), SCSI middle
// layer and the adapter's driver, in the functions and structures of Linux 2.6.20 (README.md).
#pragma once

#include <memory>
#include <vector>

#include "workloads/linux26/block/block_options.hpp"
#include "workloads/linux26/slab/slab.hpp"
#include "workloads/linux26/timers/timers.hpp"

namespace linebounce::workloads {

// Assigns a node's CPUs to adapters in turn, so that each CPU serves about the same number of adapters.
class InterruptTurns {
 public:
  explicit InterruptTurns(const Kernel& kernel) : kernel_(kernel), given_(kernel.nodes()) {}
  // Adds the node's next `count` CPUs to the adapter; adds none if the node has no CPUs.
  void give(IoTopology::Adapter& adapter, int node, std::int64_t count);

 private:
  const Kernel& kernel_;
  std::vector<std::size_t> given_;  // by node
};

class BlockLayer {
 public:
  virtual ~BlockLayer() = default;
  // generic_make_request() in the context of a process, interrupts on. Returns when the request is queued or started.
  virtual void submit(Cpu& cpu, Io& io) = 0;
  // blk_run_backing_dev(): the caller has submitted a whole batch, so the queue need not wait for more. Reports count its time
  // in the calling function, except for the queue's own functions.
  virtual void unplug(Cpu& cpu, int device) = 0;
};

// REQUIRES: each CPU's program calls kernel.interrupts().start() and ticks the timers. Errors: std::invalid_argument if the
// machine lacks an adapter, CPU or node that the options name, or if the layout has no bitmap for a depth.
std::unique_ptr<BlockLayer> make_block_layer(Kernel& kernel, Timers& timers, SlabAllocator& slab, const BlockOptions& options);

}  // namespace linebounce::workloads
