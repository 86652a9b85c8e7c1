// Places hosts and disks, and sets their contents before the first I/O.
#include "workloads/linux26/scsi/scsi.hpp"

#include <fmt/format.h>

namespace linebounce::workloads {
namespace {

constexpr Value kTimeoutSeconds = 30;  // SD_TIMEOUT
constexpr Value kSectorBytes = 512;

}  // namespace

ScsiLayer::Functions::Functions(const Kernel& kernel)
    : request_fn(kernel.function("scsi_request_fn")),
      prep_fn(kernel.function("scsi_prep_fn")),
      get_command(kernel.function("scsi_get_command")),
      inner_get_command(kernel.function("__scsi_get_command")),
      init_command(kernel.function("sd_init_command")),
      dispatch_cmd(kernel.function("scsi_dispatch_cmd")),
      add_timer(kernel.function("scsi_add_timer")),
      delete_timer(kernel.function("scsi_delete_timer")),
      scsi_done(kernel.function("scsi_done")),
      inner_scsi_done(kernel.function("__scsi_done")),
      softirq_done(kernel.function("scsi_softirq_done")),
      finish_command(kernel.function("scsi_finish_command")),
      unbusy(kernel.function("scsi_device_unbusy")),
      io_completion(kernel.function("scsi_io_completion")),
      end_request(kernel.function("scsi_end_request")),
      next_command(kernel.function("scsi_next_command")),
      put_command(kernel.function("scsi_put_command")),
      inner_put_command(kernel.function("__scsi_put_command")),
      run_queue(kernel.function("scsi_run_queue")) {}

ScsiLayer::ScsiLayer(Kernel& kernel, Timers& timers, SlabAllocator& slab, RequestQueues& queues, const BlockOptions& options)
    : kernel_(kernel),
      timers_(timers),
      queues_(queues),
      options_(options),
      in_(kernel),
      host_({kernel, "scsi_host"}),
      device_({kernel, "scsi_device"}),
      command_({kernel, "scsi_cmnd"}),
      eh_timeout_(timer_fields(kernel.layout("scsi_cmnd"), "eh_timeout")),
      pool_slab_(kernel.field("scsi_host_cmd_pool", "slab")),
      pool_gfp_mask_(kernel.field("scsi_host_cmd_pool", "gfp_mask")),
      disk_capacity_(kernel.field("gendisk", "capacity")),
      cache_(slab.create_cache("scsi_cmnd", objects_per_node(kernel, options))),
      adapters_(
          kernel, slab, options,
          {.scsi_done = [this](Cpu& cpu, ScsiCommand& command) { scsi_done(cpu, command); },
           .soon_done = [this](Cpu& cpu, const ScsiCommand& command) { timers_.prefetch_base(cpu, *command.eh_timeout); }}),
      command_pool_(kernel.place("scsi_host_cmd_pool", "scsi_cmd_pool", 0)) {
  for (std::size_t host = 0; host < options.topology.adapters.size(); ++host) place_host(static_cast<int>(host));
  for (std::size_t device = 0; device < options.topology.devices.size(); ++device) place_device(static_cast<int>(device));
}

// As in Linux, each host keeps one command in reserve. It is never used, because slab allocation doesn't fail here.
void ScsiLayer::place_host(int number) {
  const int node = options_.topology.adapters[number].node;
  const std::string name = fmt::format("scsi_host[{}]", number);
  ScsiHost host{.object = kernel_.place("scsi_host", name, node)};
  host.default_lock = &kernel_.lock_in(host.object, name, "scsi_host", "default_lock");
  host.free_list_lock = &kernel_.lock_in(host.object, name, "scsi_host", "free_list_lock");
  const Object reserve = kernel_.place("scsi_cmnd", fmt::format("reserve_command[{}]", number), node);
  AddressSpace& memory = kernel_.memory();
  const auto preset = [&](const FieldPlace& field, Value value) { memory.preset(host.object.at(field, 0), value, field.size); };
  const Address free_list = host.object.at(host_.free_list, 0);
  const Address entry = reserve.at(command_.list, 0);
  for (const Address offset : {Address{0}, Address{8}}) {
    memory.preset(free_list + offset, entry);
    memory.preset(entry + offset, free_list);
  }
  list64::preset_empty(memory, host.object.at(host_.starved_list, 0));
  preset(host_.cmd_pool, command_pool_.address());
  preset(host_.host_lock, host.object.at(host_.default_lock, 0));
  preset(host_.max_cmd_len, 16);
  preset(host_.can_queue, static_cast<Value>(options_.can_queue));
  hosts_.push_back(host);
}

void ScsiLayer::place_device(int number) {
  const IoTopology::Device& spec = options_.topology.devices[number];
  const std::string name = fmt::format("scsi_device[{}]", number);
  ScsiDevice device{.object = kernel_.place("scsi_device", name, spec.node), .number = number, .host = spec.adapter};
  device.list_lock = &kernel_.lock_in(device.object, name, "scsi_device", "list_lock");
  AddressSpace& memory = kernel_.memory();
  const auto preset = [&](const FieldPlace& field, Value value) {
    memory.preset(device.object.at(field, 0), value, field.size);
  };
  list64::preset_empty(memory, device.object.at(device_.cmd_list, 0));
  list64::preset_empty(memory, device.object.at(device_.starved_entry, 0));
  const Object& queue = queues_.object(number);
  memory.preset(queue.at(queues_.queue_fields().queuedata, 0), device.object.address());
  preset(device_.host, hosts_[spec.adapter].object.address());
  preset(device_.request_queue, queue.address());
  preset(device_.queue_depth, static_cast<Value>(options_.queue_depth));
  preset(device_.lun, static_cast<Value>(number));
  preset(device_.sector_size, kSectorBytes);
  preset(device_.timeout, kTimeoutSeconds);
  preset(device_.references, 1);
  device_at_[device.object.at(device_.starved_entry, 0)] = number;
  devices_.push_back(device);
}

}  // namespace linebounce::workloads
