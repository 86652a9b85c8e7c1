// Tags: numbers that identify a disk's commands in flight.
#include <algorithm>
#include <bit>

#include "models/failure.hpp"
#include "workloads/linux26/block/block_structures.hpp"
#include "workloads/linux26/block/path_lengths.hpp"
#include "workloads/linux26/block/request_queues.hpp"

namespace linebounce::workloads {
namespace {

constexpr Address kBitsOfWord = 64;

}  // namespace

// The number of the first clear bit; `bits` if all are set.
Address RequestQueues::find_next_zero_bit(Cpu& cpu, Address bitmap, Address bits) const {
  const FunctionScope scope(cpu, in_.find_bit);
  for (Address first = 0; first < bits; first += kBitsOfWord) {
    kernel_.execute(cpu, path::kFindBit);
    const Value word = cpu.load(bitmap + first / 8);
    if (~word != 0) return std::min(bits, first + static_cast<Address>(std::countr_one(word)));
  }
  return bits;
}

bool RequestQueues::blk_queue_start_tag(Cpu& cpu, Request& request) {
  const FunctionScope scope(cpu, in_.start_tag);
  const Queue& target = queue(request.device);
  kernel_.execute(cpu, path::kStartTag);
  target.object.load(cpu, queue_.queue_tags);
  Address tag = 0;
  do {
    const auto [depth, bitmap] = target.tags.load_pair(cpu, tags_.max_depth, tags_.tag_map);
    tag = find_next_zero_bit(cpu, bitmap, depth);
    if (tag >= depth) return false;
  } while (test_and_set_bit(cpu, tag, target.bitmap.at(bitmap_, cpu)));
  const Value flags = request.object.load(cpu, request_.cmd_flags);
  request.object.store(cpu, request_.cmd_flags, flags | kRequestQueued);
  request.object.store(cpu, request_.tag, tag);
  const Address index = target.tags.load(cpu, tags_.tag_index);
  cpu.store(index + tag * 8, request.object.address());
  blkdev_dequeue_request(cpu, request);
  const Address entry = request.object.at(request_.queuelist, cpu);
  kernel_.list_add(cpu, entry, target.tags.at(tags_.busy_list, cpu));
  target.tags.add(cpu, tags_.busy, 1);
  return true;
}

bool RequestQueues::blk_rq_tagged(Cpu& cpu, const Request& request) const {
  return (request.object.load(cpu, request_.cmd_flags) & kRequestQueued) != 0;
}

void RequestQueues::blk_queue_end_tag(Cpu& cpu, Request& request) {
  const FunctionScope scope(cpu, in_.end_tag);
  const Queue& target = queue(request.device);
  kernel_.execute(cpu, path::kEndTag);
  const Address tag = request.object.load(cpu, request_.tag);
  target.object.load(cpu, queue_.queue_tags);
  if (tag >= target.tags.load(cpu, tags_.real_max_depth)) throw ModelFailure("a request has no tag of its queue");
  const Address bitmap = target.tags.load(cpu, tags_.tag_map);
  if (!unlocked_test_and_clear_bit(cpu, tag, bitmap)) throw ModelFailure("a tag is free that a request has");
  list64::remove_and_initialise(cpu, request.object.at(request_.queuelist, cpu));
  const Value flags = request.object.load(cpu, request_.cmd_flags);
  request.object.store(cpu, request_.cmd_flags, flags & ~kRequestQueued);
  request.object.store(cpu, request_.tag, kNoTag);
  const Address index = target.tags.load(cpu, tags_.tag_index);
  if (cpu.load(index + tag * 8) != request.object.address()) throw ModelFailure("another request has this one's tag");
  cpu.store(index + tag * 8, 0);
  target.tags.add(cpu, tags_.busy, Value{0} - 1);
}

}  // namespace linebounce::workloads
