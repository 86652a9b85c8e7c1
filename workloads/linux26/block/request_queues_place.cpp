// Places request queues and tags, and sets their contents before the first I/O.
#include <fmt/format.h>

#include "workloads/linux26/block/request_queues.hpp"

namespace linebounce::workloads {
namespace {

Value code_of(FunctionId function) {
  return 0xA000000000000000ULL + function;
}  // stands for the address of a function; never called

}  // namespace

RequestQueues::Functions::Functions(const Kernel& kernel)
    : generic_make_request(kernel.function("generic_make_request")),
      make_request(kernel.function("__make_request")),
      get_request_wait(kernel.function("get_request_wait")),
      get_request(kernel.function("get_request")),
      init_request(kernel.function("init_request_from_bio")),
      add_request(kernel.function("add_request")),
      elv_insert(kernel.function("elv_insert")),
      elv_empty(kernel.function("elv_queue_empty")),
      elv_next_request(kernel.function("elv_next_request")),
      noop_dispatch(kernel.function("noop_dispatch")),
      elv_dequeue(kernel.function("elv_dequeue_request")),
      elv_completed(kernel.function("elv_completed_request")),
      blk_plug_device(kernel.function("blk_plug_device")),
      blk_remove_plug(kernel.function("blk_remove_plug")),
      generic_unplug_device(kernel.function("generic_unplug_device")),
      inner_unplug(kernel.function("__generic_unplug_device")),
      backing_dev_unplug(kernel.function("blk_backing_dev_unplug")),
      unplug_timeout(kernel.function("blk_unplug_timeout")),
      unplug_work(kernel.function("blk_unplug_work")),
      run_queue(kernel.function("blk_run_queue")),
      start_tag(kernel.function("blk_queue_start_tag")),
      end_tag(kernel.function("blk_queue_end_tag")),
      find_bit(kernel.function("find_next_zero_bit")),
      requeue(kernel.function("blk_requeue_request")),
      complete(kernel.function("blk_complete_request")),
      done_softirq(kernel.function("blk_done_softirq")),
      end_first(kernel.function("__end_that_request_first")),
      bio_endio(kernel.function("bio_endio")),
      end_last(kernel.function("end_that_request_last")),
      put_request(kernel.function("__blk_put_request")),
      freed_request(kernel.function("freed_request")),
      inner_freed_request(kernel.function("__freed_request")) {}

RequestQueues::RequestQueues(Kernel& kernel, Timers& timers, SlabAllocator& slab, const BlockOptions& options)
    : kernel_(kernel),
      timers_(timers),
      options_(options),
      in_(kernel),
      bio_({kernel, "bio"}),
      request_({kernel, "request"}),
      queue_({kernel, "request_queue"}),
      tags_({kernel, "blk_queue_tag"}),
      disk_stamp_(kernel.field("gendisk", "stamp")),
      disk_in_flight_(kernel.field("gendisk", "in_flight")),
      elevator_ops_(kernel.field("elevator_queue", "ops")),
      elevator_data_(kernel.field("elevator_queue", "elevator_data")),
      noop_queue_(kernel.list_field("noop_data", "queue")),
      pool_min_nr_(kernel.field("mempool", "min_nr")),
      pool_curr_nr_(kernel.field("mempool", "curr_nr")),
      pool_data_(kernel.field("mempool", "pool_data")),
      bitmap_(kernel.field("tag_map_bitmap", "tag_map")),
      done_list_(kernel.list_field("blk_cpu_done", "list")),
      local_list_(kernel.list_field("blk_done_stack", "local_list")),
      requests_(slab.create_cache("request", objects_per_node(kernel, options))),
      queues_(options.topology.devices.size()),
      kblockd_(kernel.cpus()),
      block_softirq_(kernel.interrupts().add_softirq([this](Cpu& cpu) { done_softirq(cpu); })),
      kblockd_softirq_(kernel.interrupts().add_softirq([this](Cpu& cpu) { kblockd_work(cpu); })) {
  for (int device = 0; device < devices(); ++device) place_queue(device);
  place_tags();
  for (Queue& each : queues_) preset_queue(each);
  for (int cpu = 0; cpu < kernel.cpus(); ++cpu) {
    const int node = kernel.node_of(cpu);
    done_lists_.push_back(kernel.place("blk_cpu_done", fmt::format("blk_cpu_done[{}]", cpu), node));
    local_lists_.push_back(kernel.place("blk_done_stack", fmt::format("blk_done_stack[{}]", cpu), node));
    preset_empty_list(done_lists_.back(), done_list_);
    preset_empty_list(local_lists_.back(), local_list_);
  }
}

void RequestQueues::place_queue(int device) {
  const int node = options_.topology.devices[device].node;
  const auto place = [&](const char* structure) {
    return kernel_.place(structure, fmt::format("{}[{}]", structure, device), node);
  };
  Queue& made = queue(device);
  made.object = place("request_queue");
  made.lock = &kernel_.lock_in(made.object, fmt::format("request_queue[{}]", device), "request_queue", "__queue_lock");
  made.elevator = place("elevator_queue");
  made.noop = place("noop_data");
  made.pool = place("mempool");
  made.disk = place("gendisk");
  made.unplug_timer = std::make_unique<Timer>(timer_fields(kernel_.layout("request_queue"), "unplug_timer"), made.object,
                                              [this, device](Cpu& cpu) {
                                                const FunctionScope scope(cpu, in_.unplug_timeout);
                                                kblockd_[cpu.id().value].push_back(device);
                                                kernel_.interrupts().raise(cpu, kblockd_softirq_);
                                              });
  timers_.init(*made.unplug_timer);
}

// Linux's kmalloc() hands out 64-byte objects, two per line. So a disk's blk_queue_tag shares a line with whichever bitmap was
// allocated at the same time. The arrays, which have lines of their own, are placed first, so that the first of the 64-byte
// objects begins a line.
void RequestQueues::place_tags() {
  for (int node = 0; node < kernel_.nodes(); ++node) {
    std::vector<int> here;
    for (int device = 0; device < devices(); ++device) {
      if (options_.topology.devices[device].node == node) here.push_back(device);
    }
    for (const int device : here) {
      queue(device).tag_index = kernel_.memory().place_array(fmt::format("tag_index[{}]", device),
                                                             std::int64_t{options_.queue_depth} * 8, Home::on_os_node(node));
    }
    const std::size_t shift = options_.tag_neighbour;
    for (std::size_t i = 0; i < here.size(); ++i) {
      const int other = here[(i + shift) % here.size()];
      queue(here[i]).tags = kernel_.place("blk_queue_tag", fmt::format("blk_queue_tag[{}]", here[i]), node);
      queue(other).bitmap = kernel_.place("tag_map_bitmap", fmt::format("tag_map_bitmap[{}]", other), node);
    }
  }
}

void RequestQueues::preset(const Object& object, const FieldPlace& field, Value value) {
  const int copies = field.section == Section::per_cpu ? kernel_.cpus() : 1;
  for (int cpu = 0; cpu < copies; ++cpu) kernel_.memory().preset(object.at(field, cpu), value, field.size);
}

void RequestQueues::preset_empty_list(const Object& object, const FieldPlace& field) {
  list64::preset_empty(kernel_.memory(), object.at(field, 0));
}

void RequestQueues::preset_queue(Queue& queue) {
  preset_empty_list(queue.object, queue_.queue_head);
  preset_empty_list(queue.noop, noop_queue_);
  preset_empty_list(queue.tags, tags_.busy_list);
  preset(queue.object, queue_.elevator, queue.elevator.address());
  preset(queue.object, queue_.rq_pool, queue.pool.address());
  preset(queue.object, queue_.queue_tags, queue.tags.address());
  preset(queue.object, queue_.unplug_io_data, queue.object.address());
  preset(queue.object, queue_.unplug_io_fn, code_of(in_.backing_dev_unplug));
  preset(queue.object, queue_.make_request_fn, code_of(in_.make_request));
  preset(queue.object, queue_.queue_lock, queue.object.at(kernel_.field("request_queue", "__queue_lock"), 0));
  preset(queue.object, queue_.nr_requests, static_cast<Value>(options_.nr_requests));
  preset(queue.object, queue_.unplug_thresh, 4);  // blk_queue_make_request()
  preset(queue.elevator, elevator_data_, queue.noop.address());
  preset(queue.pool, pool_min_nr_, 4);  // BLKDEV_MIN_RQ, all free
  preset(queue.pool, pool_curr_nr_, 4);
  preset(queue.tags, tags_.tag_index, queue.tag_index);
  preset(queue.tags, tags_.tag_map, queue.bitmap.at(bitmap_, 0));
  preset(queue.tags, tags_.max_depth, static_cast<Value>(options_.queue_depth));
  preset(queue.tags, tags_.real_max_depth, static_cast<Value>(options_.queue_depth));
}

}  // namespace linebounce::workloads
