// The path of an I/O from a file system's bio to the disk and back: block layer (request queues, tags, plugging), SCSI middle
// layer and the adapter's driver, in the functions and structures of Linux 2.6.20 (README.md).
#pragma once

#include <memory>
#include <vector>

#include "workloads/linux26/block/block_options.hpp"
#include "workloads/linux26/slab/slab.hpp"
#include "workloads/linux26/timers/timers.hpp"

namespace linebounce::workloads {

// Assigns a node's CPUs to adapters in turn, so that all of them serve about as many.
class InterruptTurns {
 public:
  explicit InterruptTurns(const Kernel& kernel) : kernel_(kernel), given_(kernel.nodes()) {}
  // Assigns none if the node has no CPUs.
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
  // blk_run_backing_dev(): a batch is complete, and waiting for more gains nothing. Counted in the caller's function, except
  // for the queue's own functions.
  virtual void unplug(Cpu& cpu, int device) = 0;
};

// Each CPU's program calls kernel.interrupts().start() and ticks the timers. Errors: std::invalid_argument, if the machine has
// no such adapter, CPU or node, or a depth has no bitmap.
std::unique_ptr<BlockLayer> make_block_layer(Kernel& kernel, Timers& timers, SlabAllocator& slab, const BlockOptions& options);

}  // namespace linebounce::workloads
