// Assembles the block layer, SCSI and the driver, and checks their options.
#include "workloads/linux26/io/block_layer.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "workloads/linux26/scsi/scsi.hpp"

namespace linebounce::workloads {
namespace {

void require(bool legal, const std::string& what) {
  if (!legal) throw std::invalid_argument(what);
}

void require_node(const Kernel& kernel, int node, const std::string& what) {
  require(node >= 0 && node < kernel.nodes(), fmt::format("{}: node {}; legal: 0 to {}", what, node, kernel.nodes() - 1));
}

void check(const Kernel& kernel, const BlockOptions& options) {
  const IoTopology& topology = options.topology;
  const auto adapters = static_cast<int>(topology.adapters.size());
  require(!topology.devices.empty() && adapters > 0, "block layer: there must be an adapter and a disk");
  for (std::size_t number = 0; number < topology.adapters.size(); ++number) {
    const std::string what = fmt::format("adapter {}", number);
    require_node(kernel, topology.adapters[number].node, what);
    require(!topology.adapters[number].interrupt_cpus.empty(), what + " interrupts no CPU");
    for (const int cpu : topology.adapters[number].interrupt_cpus)
      require(cpu >= 0 && cpu < kernel.cpus(),
              fmt::format("{} interrupts CPU {}; legal: 0 to {}", what, cpu, kernel.cpus() - 1));
  }
  for (std::size_t number = 0; number < topology.devices.size(); ++number) {
    const IoTopology::Device& device = topology.devices[number];
    const std::string what = fmt::format("disk {}", number);
    require_node(kernel, device.node, what);
    require(device.adapter >= 0 && device.adapter < adapters,
            fmt::format("{}: adapter {}; legal: 0 to {}", what, device.adapter, adapters - 1));
  }
  const int most_tags = kernel.field("tag_map_bitmap", "tag_map").size * 8;
  require(options.queue_depth > 0 && options.queue_depth <= most_tags,
          fmt::format("queue_depth {}; legal: 1 to {}, the bits of tag_map_bitmap.tag_map", options.queue_depth, most_tags));
  require(options.can_queue > 0, "can_queue must be at least 1");
  require(options.nr_requests > 0, "nr_requests must be at least 1");
  require(options.tag_neighbour >= 0, "tag_neighbour must be at least 0");
}

class LinuxBlockLayer final : public BlockLayer {
 public:
  LinuxBlockLayer(Kernel& kernel, Timers& timers, SlabAllocator& slab, const BlockOptions& options)
      : options_(options), queues_(kernel, timers, slab, options_), scsi_(kernel, timers, slab, queues_, options_) {
    queues_.set_driver(scsi_);
  }

  void submit(Cpu& cpu, Io& io) override { queues_.generic_make_request(cpu, io); }
  void unplug(Cpu& cpu, int device) override { queues_.unplug_io_fn(cpu, device); }

 private:
  BlockOptions options_;
  RequestQueues queues_;
  ScsiLayer scsi_;
};

}  // namespace

void InterruptTurns::give(IoTopology::Adapter& adapter, int node, std::int64_t count) {
  const std::vector<int> cpus = kernel_.cpus_of(node);
  std::size_t& given = given_[node];
  for (std::int64_t i = 0; i < count && !cpus.empty(); ++i) adapter.interrupt_cpus.push_back(cpus[given++ % cpus.size()]);
}

std::unique_ptr<BlockLayer> make_block_layer(Kernel& kernel, Timers& timers, SlabAllocator& slab, const BlockOptions& options) {
  check(kernel, options);
  return std::make_unique<LinuxBlockLayer>(kernel, timers, slab, options);
}

}  // namespace linebounce::workloads
