// Field offsets of SCSI's structures, from the layout file, and the objects of hosts, disks and commands.
#pragma once

#include <memory>

#include "workloads/linux26/block/request_queues.hpp"

namespace linebounce::workloads {

struct ScsiHostFields {
  explicit ScsiHostFields(const StructureFields& of)
      : cmd_pool(of("cmd_pool")),
        free_list(of.list("free_list")),
        starved_list(of.list("starved_list")),
        default_lock(of("default_lock")),
        host_lock(of("host_lock")),
        hostt(of("hostt")),
        host_busy(of("host_busy")),
        max_cmd_len(of("max_cmd_len")),
        can_queue(of("can_queue")),
        cmd_serial_number(of("cmd_serial_number")),
        host_blocked(of("host_blocked")),
        shost_state(of("shost_state")) {}
  FieldPlace cmd_pool, free_list, starved_list, default_lock, host_lock, hostt, host_busy, max_cmd_len, can_queue,
      cmd_serial_number, host_blocked, shost_state;
};

struct ScsiDeviceFields {
  explicit ScsiDeviceFields(const StructureFields& of)
      : host(of("host")),
        request_queue(of("request_queue")),
        device_busy(of("device_busy")),
        cmd_list(of.list("cmd_list")),
        starved_entry(of.list("starved_entry")),
        queue_depth(of("queue_depth")),
        lun(of("lun")),
        sector_size(of("sector_size")),
        hostdata(of("hostdata")),
        changed(of("changed")),
        device_blocked(of("device_blocked")),
        iorequest_cnt(of("iorequest_cnt")),
        iodone_cnt(of("iodone_cnt")),
        timeout(of("timeout")),
        references(of("sdev_gendev.kobj.kref")),
        sdev_state(of("sdev_state")) {}
  FieldPlace host, request_queue, device_busy, cmd_list, starved_entry, queue_depth, lun, sector_size, hostdata, changed,
      device_blocked, iorequest_cnt, iodone_cnt, timeout, references, sdev_state;
};

struct ScsiCommandFields {
  explicit ScsiCommandFields(const StructureFields& of)
      : device(of("device")),
        list(of.list("list")),
        eh_entry(of.list("eh_entry")),
        eh_eflags(of("eh_eflags")),
        done(of("done")),
        serial_number(of("serial_number")),
        jiffies_at_alloc(of("jiffies_at_alloc")),
        allowed(of("allowed")),
        timeout_per_command(of("timeout_per_command")),
        cmd_len(of("cmd_len")),
        cmnd(of("cmnd")),
        transfersize(of("transfersize")),
        request(of("request")),
        scsi_done(of("scsi_done")),
        host_scribble(of("host_scribble")),
        result(of("result")) {}
  FieldPlace device, list, eh_entry, eh_eflags, done, serial_number, jiffies_at_alloc, allowed, timeout_per_command, cmd_len,
      cmnd, transfersize, request, scsi_done, host_scribble, result;
};

struct ScsiHost {
  Object object;
  MeteredLock* default_lock = nullptr;  // the lock that host_lock points to
  MeteredLock* free_list_lock = nullptr;
};

struct ScsiDevice {
  Object object;
  int number = 0;
  int host = 0;
  MeteredLock* list_lock = nullptr;
};

// A command, and the C++ record for its address. As with Request, only the command's current holder may use the record.
struct ScsiCommand {
  Object object;
  std::unique_ptr<Timer> eh_timeout;
  Request* request = nullptr;
  const ScsiDevice* device = nullptr;
  Object srb;               // owned by the driver
  CpuId retired_by;         // the CPU that retired the timer eh_timeout
  bool timer_gone = false;  // ...and whether that CPU saw the timer leave its base
};

}  // namespace linebounce::workloads
