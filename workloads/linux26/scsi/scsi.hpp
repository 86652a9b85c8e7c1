// The SCSI middle layer of Linux 2.6.20 (drivers/scsi/scsi.c, scsi_lib.c, scsi_error.c) with its disk driver (sd.c). It builds
// commands from requests, counts those in flight, and passes them to the adapter's driver. When a command completes, the next
// request of a queue may start.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "workloads/linux26/scsi/qla2xxx.hpp"
#include "workloads/linux26/scsi/scsi_structures.hpp"

namespace linebounce::workloads {

class ScsiLayer final : public RequestDriver {
 public:
  // Makes hosts and disks. REQUIRES: `queues` already has the disks' request queues; the options outlive this object.
  ScsiLayer(Kernel& kernel, Timers& timers, SlabAllocator& slab, RequestQueues& queues, const BlockOptions& options);

  void request_fn(Cpu& cpu, int device) override;
  void prep_rq_fn(Cpu& cpu, Request& request) override;
  void softirq_done_fn(Cpu& cpu, Request& request) override;

 private:
  struct Functions {
    explicit Functions(const Kernel& kernel);
    FunctionId request_fn, prep_fn, get_command, inner_get_command, init_command, dispatch_cmd, add_timer, delete_timer,
        scsi_done, inner_scsi_done, softirq_done, finish_command, unbusy, io_completion, end_request, next_command, put_command,
        inner_put_command, run_queue;
  };

  void place_host(int number);
  void place_device(int number);

  [[nodiscard]] const ScsiHost& host_of(const ScsiDevice& device) const { return hosts_[device.host]; }
  ScsiCommand& command_of(const Request& request) { return *commands_.at(request.command.address()); }

  // ---- scsi_submit.cpp ----
  void start(Cpu& cpu, const ScsiDevice& device, Request& request);
  bool start_one(Cpu& cpu, const ScsiDevice& device);
  bool device_queue_ready(Cpu& cpu, const ScsiDevice& device);
  bool host_queue_ready(Cpu& cpu, const ScsiHost& host, const ScsiDevice& device);
  ScsiCommand& get_command(Cpu& cpu, const ScsiDevice& device);
  Object inner_get_command(Cpu& cpu, const ScsiDevice& device);
  ScsiCommand& record_of(const Object& object);
  void init_command(Cpu& cpu, const ScsiDevice& device, ScsiCommand& command);
  void dispatch_cmd(Cpu& cpu, ScsiCommand& command);

  // ---- scsi_complete.cpp ----
  void scsi_done(Cpu& cpu, ScsiCommand& command);
  void timer_retired(Cpu& cpu, ScsiCommand& command);
  bool last_to_leave(Cpu& cpu, const ScsiCommand& command, Value mine) const;
  void finish_command(Cpu& cpu, ScsiCommand& command);
  void device_unbusy(Cpu& cpu, const ScsiDevice& device);
  void io_completion(Cpu& cpu, ScsiCommand& command);
  void end_request(Cpu& cpu, ScsiCommand& command);
  void next_command(Cpu& cpu, ScsiCommand& command);
  void put_command(Cpu& cpu, ScsiCommand& command);
  void run_queue(Cpu& cpu, const ScsiDevice& device);

  Kernel& kernel_;
  Timers& timers_;
  RequestQueues& queues_;
  const BlockOptions& options_;
  Functions in_;
  ScsiHostFields host_;
  ScsiDeviceFields device_;
  ScsiCommandFields command_;
  TimerFields eh_timeout_;
  FieldPlace pool_slab_, pool_gfp_mask_, disk_capacity_;
  SlabCache& cache_;  // the cache of scsi_cmnd
  QlaAdapters adapters_;
  Object command_pool_;
  std::vector<ScsiHost> hosts_;
  std::vector<ScsiDevice> devices_;
  std::unordered_map<Address, int> device_at_;  // by the address of the field starved_entry
  std::deque<ScsiCommand> records_;             // one for each object that was allocated at least once
  std::unordered_map<Address, ScsiCommand*> commands_;
};

}  // namespace linebounce::workloads
