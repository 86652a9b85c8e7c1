// Parameters of the block layer and the drivers below it: transfers, the disks and adapters, and the options of both.
#pragma once

#include <functional>
#include <vector>

#include "workloads/linux26/kernel/kernel.hpp"

namespace linebounce::workloads {

// One transfer. Its owner makes it and keeps it until it is done.
struct Io {
  int device = 0;  // the disk's number
  bool write = false;
  bool sync = false;  // bio_sync(): unplugs the queue as soon as this request is in it
  Object bio;         // a structure bio, allocated by the owner
  void* owner = nullptr;
};

// Disks, their adapters, and the CPUs that these interrupt.
struct IoTopology {
  struct Adapter {
    int node = 0;                     // the node of its scsi_host and scsi_qla_host
    std::vector<int> interrupt_cpus;  // one CPU for each interrupt, in turn
  };
  struct Device {
    int adapter = 0;
    int node = 0;  // the node of its scsi_device, request_queue and tags
  };
  std::vector<Adapter> adapters;
  std::vector<Device> devices;
  double service_us = 5000;  // mean time from the adapter's start of a command to its interrupt, exponential
};

struct BlockOptions {
  IoTopology topology;
  // bio->bi_end_io, in a softirq on the CPU that was interrupted. The owner may submit the Io again at once.
  std::function<void(Cpu&, Io&)> done;

  int queue_depth = 32;   // how many commands a disk takes at once, and its tags
  int can_queue = 1024;   // how many commands an adapter takes at once
  int nr_requests = 128;  // a queue takes 1.5 times as many in each direction; further submitters wait
  // Limit on I/Os in flight in the whole machine; decides how much memory there is for requests and commands.
  int most_ios = 2048;

  double unplug_delay_us = 3000;
  double register_access_ns = 300;  // a read of an adapter's register: a round trip over PCI

  // The bitmap of a disk's tags shares a line with the blk_queue_tag of another disk: the one this many places before it on
  // its node. 0: with its own disk's.
  int tag_neighbour = 1;

  // What-if options.
  bool plug = true;                      // false: a request is started at once, without plug and timer
  bool adjust_queue_depth_check = true;  // false: completion reads a flag of its adapter instead of the disk's queue_depth
  bool complete_on_submitter = false;    // true: the submitting CPU is interrupted (a queue for each CPU, MSI-X)
};

// The size of a cache of objects of which every I/O needs one. Slabs keep free objects on lists of each CPU and node, from
// which other CPUs cannot take them; the size includes memory for these objects.
inline int objects_per_node(const Kernel& kernel, const BlockOptions& options) {
  constexpr int kKeptFree = 128;
  return options.most_ios + kKeptFree * kernel.cpus();
}

}  // namespace linebounce::workloads
