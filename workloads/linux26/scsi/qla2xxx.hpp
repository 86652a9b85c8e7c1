// The adapters and their driver (drivers/scsi/qla2xxx of Linux 2.6.20). The driver puts commands into the request ring, and
// handles the adapters' interrupts.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "workloads/linux26/scsi/scsi_structures.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::workloads {

class QlaAdapters {
 public:
  // Called in the interrupt handler: scsi_done() for a command that is done; soon_done() shortly before, while the driver still
  // works on the command.
  struct Upcalls {
    std::function<void(Cpu&, ScsiCommand&)> scsi_done;
    std::function<void(Cpu&, const ScsiCommand&)> soon_done;
  };
  QlaAdapters(Kernel& kernel, SlabAllocator& slab, const BlockOptions& options, Upcalls upcalls);

  // qla2x00_queuecommand(): called with the host's lock held and interrupts off, and returns in the same state.
  void queuecommand(Cpu& cpu, const ScsiHost& host, ScsiCommand& command);

 private:
  struct HostFields {
    explicit HostFields(const StructureFields& of)
        : host(of("host")),
          flags(of("flags")),
          max_q_depth(of("max_q_depth")),
          request_ring_ptr(of("request_ring_ptr")),
          req_ring_index(of("req_ring_index")),
          req_q_cnt(of("req_q_cnt")),
          rsp_ring_index(of("rsp_ring_index")),
          outstanding_cmds(of("outstanding_cmds")),
          current_outstanding_cmd(of("current_outstanding_cmd")) {}
    FieldPlace host, flags, max_q_depth, request_ring_ptr, req_ring_index, req_q_cnt, rsp_ring_index, outstanding_cmds,
        current_outstanding_cmd;
  };

  // The adapter's own state, outside the computer's memory: its commands in flight, ordered by completion time and handle. It
  // changes only under hardware_lock, so the simulated lock orders the changes. An interrupt belongs to the adapter, not to a
  // command. Its handler takes all commands that are done by then, as from the real adapter's response ring, so one interrupt
  // may complete several commands. The handler returns at once if another CPU has already taken them.
  using Responses = std::map<std::pair<double, Value>, ScsiCommand*>;  // ns, handle

  struct Adapter {
    Adapter(const Random& stream, std::size_t queues) : service(stream), responses(queues) {}
    Object object;
    MeteredLock* hardware_lock = nullptr;
    Address outstanding = 0, ring = 0;
    Address handles = 0;  // 1 to handles - 1 are used, as in the driver
    std::vector<int> interrupt_cpus;
    int vector = 0;
    // Guarded by hardware_lock.
    Random service;
    std::size_t turn = 0;
    std::vector<Responses> responses;  // a single queue; with complete_on_submitter, one per CPU
  };

  void place(int number);
  Object new_srb(Cpu& cpu, ScsiCommand& command);
  void start_scsi(Cpu& cpu, ScsiCommand& command);
  Value take_handle(Cpu& cpu, const Adapter& adapter);
  void fill_ring_entry(Cpu& cpu, const Adapter& adapter, const ScsiCommand& command, Value handle);
  void work_on(Cpu& cpu, Adapter& adapter, ScsiCommand& command, Value handle);
  void interrupt(Cpu& cpu, Adapter& adapter);
  void process_completed(Cpu& cpu, Adapter& adapter, ScsiCommand& command, Value handle);
  void read_register(Cpu& cpu);

  Kernel& kernel_;
  const BlockOptions& options_;
  Upcalls upcalls_;
  ScsiHostFields host_;
  ScsiDeviceFields device_;
  ScsiCommandFields command_;
  HostFields qla_;
  FieldPlace port_state_, port_ha_, srb_ha_, srb_cmd_, srb_flags_, srb_state_;
  SlabCache& srbs_;
  FunctionId queuecommand_, get_new_sp_, start_scsi_, intr_handler_, process_response_queue_, status_entry_, process_completed_,
      sp_compl_;
  std::int64_t register_cycles_;
  std::vector<Adapter> adapters_;
  std::vector<Object> ports_;  // fc_port, by device
};

}  // namespace linebounce::workloads
