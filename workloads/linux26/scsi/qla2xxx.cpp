#include "workloads/linux26/scsi/qla2xxx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/failure.hpp"
#include "workloads/linux26/block/path_lengths.hpp"
#include "workloads/program/times.hpp"

namespace linebounce::workloads {
namespace {

constexpr std::uint64_t kServicePurpose = 0x7161;  // stream of random numbers: "qa"
constexpr Address kRingEntryBytes = 64;            // REQUEST_ENTRY_SIZE
constexpr int kRingEntries = 2048;                 // REQUEST_ENTRY_CNT_2XXX_EXT_MEM; the ring's counters have 16 bits
constexpr Value kDidOk = 0;
constexpr int kMostResponses = 50;  // most responses that one interrupt handles; the rest wait for another interrupt

}  // namespace

QlaAdapters::QlaAdapters(Kernel& kernel, SlabAllocator& slab, const BlockOptions& options, Upcalls upcalls)
    : kernel_(kernel),
      options_(options),
      upcalls_(std::move(upcalls)),
      host_({kernel, "scsi_host"}),
      device_({kernel, "scsi_device"}),
      command_({kernel, "scsi_cmnd"}),
      qla_({kernel, "scsi_qla_host"}),
      port_state_(kernel.field("fc_port", "state")),
      port_ha_(kernel.field("fc_port", "ha")),
      srb_ha_(kernel.field("srb", "ha")),
      srb_cmd_(kernel.field("srb", "cmd")),
      srb_flags_(kernel.field("srb", "flags")),
      srb_state_(kernel.field("srb", "state")),
      srbs_(slab.create_cache("srb", objects_per_node(kernel, options))),
      queuecommand_(kernel.function("qla2x00_queuecommand")),
      get_new_sp_(kernel.function("qla2x00_get_new_sp")),
      start_scsi_(kernel.function("qla2x00_start_scsi")),
      intr_handler_(kernel.function("qla2300_intr_handler")),
      process_response_queue_(kernel.function("qla2x00_process_response_queue")),
      status_entry_(kernel.function("qla2x00_status_entry")),
      process_completed_(kernel.function("qla2x00_process_completed_request")),
      sp_compl_(kernel.function("qla2x00_sp_compl")),
      register_cycles_(cycles(options.register_access_ns / 1000, kernel.machine())) {
  const std::vector<IoTopology::Adapter>& adapters = options.topology.adapters;
  adapters_.reserve(adapters.size());  // handlers keep adapters' addresses
  for (std::size_t number = 0; number < adapters.size(); ++number) place(static_cast<int>(number));
  for (const IoTopology::Device& device : options.topology.devices) {
    ports_.push_back(kernel.place("fc_port", fmt::format("fc_port[{}]", ports_.size()), device.node));
    kernel.memory().preset(ports_.back().at(port_ha_, 0), adapters_[device.adapter].object.address());
  }
}

void QlaAdapters::place(int number) {
  const IoTopology::Adapter& spec = options_.topology.adapters[number];
  const std::string name = fmt::format("scsi_qla_host[{}]", number);
  int most = 0;  // most commands in flight
  for (const IoTopology::Device& device : options_.topology.devices) {
    if (device.adapter == number) most += options_.queue_depth;
  }
  const Random stream(kernel_.seed(), static_cast<std::uint64_t>(number), kServicePurpose);
  Adapter& adapter = adapters_.emplace_back(stream, options_.complete_on_submitter ? kernel_.cpus() : 1);
  adapter.handles = static_cast<Address>(std::min(most, options_.can_queue)) + 1;
  adapter.object = kernel_.place("scsi_qla_host", name, spec.node);
  adapter.hardware_lock = &kernel_.lock_in(adapter.object, name, "scsi_qla_host", "hardware_lock");
  const Home home = Home::on_os_node(spec.node);
  adapter.outstanding = kernel_.memory().place_array(fmt::format("outstanding_cmds[{}]", number),
                                                     static_cast<std::int64_t>(adapter.handles * 8), home);
  adapter.ring = kernel_.memory().place_array(fmt::format("request_ring[{}]", number), kRingEntries * kRingEntryBytes, home);
  adapter.interrupt_cpus = spec.interrupt_cpus;
  adapter.vector = kernel_.interrupts().add_handler([this, &adapter](Cpu& cpu, FunctionId) { interrupt(cpu, adapter); });
  const auto preset = [&](const FieldPlace& field, Value value) {
    kernel_.memory().preset(adapter.object.at(field, 0), value, field.size);
  };
  preset(qla_.outstanding_cmds, adapter.outstanding);
  preset(qla_.request_ring_ptr, adapter.ring);
  preset(qla_.max_q_depth, static_cast<Value>(options_.queue_depth));
  preset(qla_.req_q_cnt, kRingEntries - 1);
}

void QlaAdapters::read_register(Cpu& cpu) {
  cpu.compute(register_cycles_);
}

// Called with the host's lock held. The driver releases it for its own work, and acquires it again before it returns.
void QlaAdapters::queuecommand(Cpu& cpu, const ScsiHost& host, ScsiCommand& command) {
  const FunctionScope scope(cpu, queuecommand_);
  const ScsiDevice& device = *command.device;
  kernel_.execute(cpu, path::kQueueCommand);
  device.object.load(cpu, device_.hostdata);
  ports_[device.number].load(cpu, port_state_);
  host.object.load(cpu, host_.host_lock);
  kernel_.unlock_irq(cpu, *host.default_lock);
  command.srb = new_srb(cpu, command);
  start_scsi(cpu, command);
  host.object.load(cpu, host_.host_lock);
  kernel_.lock_irq(cpu, *host.default_lock);
}

Object QlaAdapters::new_srb(Cpu& cpu, ScsiCommand& command) {
  const FunctionScope scope(cpu, get_new_sp_);
  Object srb = srbs_.alloc(cpu);
  srb.store(cpu, srb_ha_, adapters_[command.device->host].object.address());
  srb.store(cpu, srb_cmd_, command.object.address());
  srb.store(cpu, srb_flags_, 0);
  return srb;
}

void QlaAdapters::start_scsi(Cpu& cpu, ScsiCommand& command) {
  const FunctionScope scope(cpu, start_scsi_);
  Adapter& adapter = adapters_[command.device->host];
  kernel_.execute(cpu, path::kStartScsi / 2);
  kernel_.lock_irq(cpu, *adapter.hardware_lock);
  const Value handle = take_handle(cpu, adapter);
  cpu.store(adapter.outstanding + handle * 8, command.srb.address());
  command.object.store(cpu, command_.host_scribble, handle);
  fill_ring_entry(cpu, adapter, command, handle);
  command.srb.store(cpu, srb_state_, 1);
  read_register(cpu);  // writes the ring's new index, and reads it back so that the posted write reaches the adapter
  work_on(cpu, adapter, command, handle);
  kernel_.unlock_irq(cpu, *adapter.hardware_lock);
}

Value QlaAdapters::take_handle(Cpu& cpu, const Adapter& adapter) {
  Value handle = adapter.object.load(cpu, qla_.current_outstanding_cmd);
  for (Address tries = 1; tries < adapter.handles; ++tries) {
    if (++handle >= adapter.handles) handle = 1;
    if (cpu.load(adapter.outstanding + handle * 8) == 0) {
      adapter.object.store(cpu, qla_.current_outstanding_cmd, handle);
      return handle;
    }
  }
  throw ModelFailure("an adapter was given more commands than it can queue");
}

// The adapter reads entries as soon as they arrive, so the ring never fills up. The count of free entries is stored, but never
// used to wait.
void QlaAdapters::fill_ring_entry(Cpu& cpu, const Adapter& adapter, const ScsiCommand& command, Value handle) {
  adapter.object.load(cpu, qla_.req_q_cnt);
  const Address entry = adapter.object.load(cpu, qla_.request_ring_ptr);
  const Value index = adapter.object.load(cpu, qla_.req_ring_index);
  kernel_.execute(cpu, path::kStartScsi / 2);
  cpu.store(entry, handle);
  const Value lun = command.device->object.load(cpu, device_.lun);
  cpu.store(entry + 8, lun);
  const Address bytes = command.object.at(command_.cmnd, cpu);
  for (Address word = 0; word < 16; word += 4) {
    const Value part = cpu.load(bytes + word, 4);
    cpu.store(entry + 16 + word, part, 4);
  }
  for (Address word = 32; word < kRingEntryBytes; word += 8) cpu.store(entry + word, 0);  // one segment of data
  const Value next = (index + 1) % kRingEntries;
  adapter.object.store(cpu, qla_.req_ring_index, next);
  adapter.object.store(cpu, qla_.request_ring_ptr, adapter.ring + next * kRingEntryBytes);
}

// From here on the adapter owns the command.
void QlaAdapters::work_on(Cpu& cpu, Adapter& adapter, ScsiCommand& command, Value handle) {
  const std::int64_t ns = draw_exponential(adapter.service, std::llround(options_.topology.service_us * 1000));
  const bool own_queue = options_.complete_on_submitter;
  CpuId target = command.request->submitter;
  if (!own_queue) target.value = adapter.interrupt_cpus[adapter.turn++ % adapter.interrupt_cpus.size()];
  const std::size_t queue = own_queue ? target.value : 0;
  const double due = cpu.to_ns(cpu.local_time()) + static_cast<double>(ns);
  adapter.responses[queue].emplace(std::pair(due, handle), &command);
  cpu.interrupt_later(target, adapter.vector, static_cast<double>(ns));
}

void QlaAdapters::interrupt(Cpu& cpu, Adapter& adapter) {
  const FunctionScope scope(cpu, intr_handler_);
  kernel_.execute(cpu, path::kInterruptHandler);
  kernel_.lock_irq(cpu, *adapter.hardware_lock);
  Responses& responses = adapter.responses[options_.complete_on_submitter ? cpu.id().value : 0];
  read_register(cpu);  // reads whether the adapter has a response
  for (int taken = 0; taken < kMostResponses; ++taken) {
    const auto first = responses.begin();
    if (first == responses.end() || first->first.first > cpu.to_ns(cpu.local_time())) break;
    const Value handle = first->first.second;
    ScsiCommand& command = *first->second;
    responses.erase(first);
    const FunctionScope queue_scope(cpu, process_response_queue_);
    const Value index = adapter.object.load(cpu, qla_.rsp_ring_index);
    adapter.object.store(cpu, qla_.rsp_ring_index, (index + 1) % kRingEntries);
    const FunctionScope entry_scope(cpu, status_entry_);
    kernel_.execute(cpu, path::kStatusEntry);
    process_completed(cpu, adapter, command, handle);
  }
  kernel_.unlock_irq(cpu, *adapter.hardware_lock);
}

void QlaAdapters::process_completed(Cpu& cpu, Adapter& adapter, ScsiCommand& command, Value handle) {
  const FunctionScope scope(cpu, process_completed_);
  const Address slot = adapter.outstanding + handle * 8;
  if (cpu.load(slot) != command.srb.address()) throw ModelFailure("an adapter answers for a command that it was not given");
  cpu.store(slot, 0);
  command.srb.load(cpu, srb_cmd_);
  upcalls_.soon_done(cpu, command);
  kernel_.execute(cpu, path::kCompletedRequest);
  // qla2x00_ramp_up_queue_depth(): checks whether the disk's queue depth may be raised. Here it never is.
  if (options_.adjust_queue_depth_check) {
    const Value most = adapter.object.load(cpu, qla_.max_q_depth);
    const Value depth = command.device->object.load(cpu, device_.queue_depth);
    if (depth > most) throw ModelFailure("a disk's queue is deeper than its adapter allows");
  } else {
    adapter.object.load(cpu, qla_.flags);
  }
  command.object.store(cpu, command_.result, kDidOk);
  const FunctionScope sp_scope(cpu, sp_compl_);
  srbs_.free(cpu, command.srb);
  upcalls_.scsi_done(cpu, command);
}

}  // namespace linebounce::workloads
