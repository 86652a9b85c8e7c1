// Parameters of the block layer and of the drivers below it: transfers, topology of disks and adapters, and options.
#pragma once

#include <functional>
#include <vector>

#include "workloads/linux26/kernel/kernel.hpp"

namespace linebounce::workloads {

// One transfer. Its owner allocates it, and must not free or reuse it until the transfer is done.
struct Io {
  int device = 0;  // the disk's number
  bool write = false;
  bool sync = false;  // bio_sync(): unplugs the queue as soon as the request is queued
  Object bio;         // a structure bio, allocated by the owner
  void* owner = nullptr;
};

// The disks, the adapters, and the CPUs that each adapter interrupts.
struct IoTopology {
  struct Adapter {
    int node = 0;                     // the node of its scsi_host and scsi_qla_host
    std::vector<int> interrupt_cpus;  // the adapter interrupts these CPUs round-robin
  };
  struct Device {
    int adapter = 0;
    int node = 0;  // the node of its scsi_device, request_queue and tags
  };
  std::vector<Adapter> adapters;
  std::vector<Device> devices;
  double service_us = 5000;  // mean time from when the adapter starts a command to its interrupt; exponentially distributed
};

struct BlockOptions {
  IoTopology topology;
  // bio->bi_end_io: called in a softirq on the interrupted CPU. The owner may submit the Io again at once.
  std::function<void(Cpu&, Io&)> done;

  int queue_depth = 32;   // largest number of commands that a disk has in flight; also its number of tags
  int can_queue = 1024;   // largest number of commands that an adapter has in flight
  int nr_requests = 128;  // per queue and direction; at 1.5 times as many, submitters wait until there are fewer than this
  // Largest number of I/Os in flight in the whole machine. Sets how much memory there is for requests and commands.
  int most_ios = 2048;

  double unplug_delay_us = 3000;
  double register_access_ns = 300;  // time to read an adapter's register: a round trip over PCI

  // Which disk's blk_queue_tag shares a line with the bitmap of a disk's tags: the disk this many places before it on its node.
  // 0: the disk's own blk_queue_tag.
  int tag_neighbour = 1;

  // What-if options.
  bool plug = true;                      // false: a request starts at once, with no plug and no timer
  bool adjust_queue_depth_check = true;  // false: completion reads a flag of its adapter instead of the disk's queue_depth
  bool complete_on_submitter = false;    // true: an adapter interrupts the CPU that submitted the I/O (a queue per CPU, MSI-X)
};

// How many objects a cache needs on each node if every I/O uses one of them. This includes free objects that the slab allocator
// keeps on lists of a CPU or node, where other CPUs cannot get them.
inline int objects_per_node(const Kernel& kernel, const BlockOptions& options) {
  constexpr int kKeptFree = 128;
  return options.most_ios + kKeptFree * kernel.cpus();
}

}  // namespace linebounce::workloads
