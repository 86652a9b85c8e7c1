// Offsets of the fields of the block layer's structures, from the layout file.
#pragma once

#include <string>

#include "models/core/cpu.hpp"
#include "workloads/linux26/kernel/kernel.hpp"

namespace linebounce::workloads {

// Linux's bit operations on ia64. An atomic operation loads the 4-byte word that contains the bit, and then changes it with
// compare-and-exchange.

constexpr int kBitsWordBytes = 4;

// The word that contains a bit, and the bit's mask in that word.
struct BitPlace {
  BitPlace(Address bits, Address bit) : word(bits + bit / 32 * kBitsWordBytes), mask(Value{1} << bit % 32) {}
  Address word;
  Value mask;
};

inline bool test_bit(Cpu& cpu, Address bit, Address bits) {
  const BitPlace place(bits, bit);
  return (cpu.load_acquire(place.word, kBitsWordBytes) & place.mask) != 0;
}

// Sets or clears the bit atomically, and returns its old value.
inline bool exchange_bit(Cpu& cpu, Address bit, Address bits, bool set) {
  const BitPlace place(bits, bit);
  for (;;) {
    const Value old = cpu.load_acquire(place.word, kBitsWordBytes);
    const Value wanted = set ? old | place.mask : old & ~place.mask;
    if (cpu.compare_exchange(place.word, old, wanted, kBitsWordBytes) == old) return (old & place.mask) != 0;
  }
}
inline bool test_and_set_bit(Cpu& cpu, Address bit, Address bits) {
  return exchange_bit(cpu, bit, bits, true);
}
inline bool test_and_clear_bit(Cpu& cpu, Address bit, Address bits) {
  return exchange_bit(cpu, bit, bits, false);
}
inline void clear_bit(Cpu& cpu, Address bit, Address bits) {
  exchange_bit(cpu, bit, bits, false);
}

// Not atomic: the caller must hold a lock that protects the bitmap.
inline bool unlocked_test_and_clear_bit(Cpu& cpu, Address bit, Address bits) {
  const BitPlace place(bits, bit);
  const Value old = cpu.load(place.word, kBitsWordBytes);
  cpu.store(place.word, old & ~place.mask, kBitsWordBytes);
  return (old & place.mask) != 0;
}

// Bit numbers in request_queue.queue_flags and request.cmd_flags (include/linux/blkdev.h of Linux 2.6.20).
constexpr Address kQueueStopped = 2;
constexpr Address kQueueReadFull = 3;
constexpr Address kQueueWriteFull = 4;
constexpr Address kQueueDead = 5;
constexpr Address kQueueReenter = 6;
constexpr Address kQueuePlugged = 7;
constexpr Address kQueueElevatorSwitch = 8;

// masks of request.cmd_flags
constexpr Value kRequestWrite = 1 << 0;
constexpr Value kRequestSorted = 1 << 4;
constexpr Value kRequestStarted = 1 << 7;
constexpr Value kRequestPrepared = 1 << 8;  // REQ_DONTPREP
constexpr Value kRequestQueued = 1 << 9;    // the request has a tag
constexpr Value kNoTag = 0xFFFFFFFF;        // -1 in request.tag

// Looks up the fields of one structure. Errors: std::invalid_argument, if there is no such field.
class StructureFields {
 public:
  StructureFields(const Kernel& kernel, const std::string& structure) : layout_(&kernel.layout(structure)) {}
  [[nodiscard]] FieldPlace operator()(const std::string& field) const { return field_of(*layout_, field); }
  [[nodiscard]] FieldPlace list(const std::string& name) const { return list_field_of(*layout_, name); }

 private:
  const Layout* layout_;
};

struct BioFields {
  explicit BioFields(const StructureFields& of)
      : bi_sector(of("bi_sector")),
        bi_bdev(of("bi_bdev")),
        bi_rw(of("bi_rw")),
        bi_size(of("bi_size")),
        bi_end_io(of("bi_end_io")) {}
  FieldPlace bi_sector, bi_bdev, bi_rw, bi_size, bi_end_io;
};

struct RequestFields {
  explicit RequestFields(const StructureFields& of)
      : queuelist(of.list("queuelist")),
        donelist(of.list("donelist")),
        q(of("q")),
        cmd_flags(of("cmd_flags")),
        sector(of("sector")),
        nr_sectors(of("nr_sectors")),
        bio(of("bio")),
        rq_disk(of("rq_disk")),
        start_time(of("start_time")),
        special(of("special")),
        tag(of("tag")),
        errors(of("errors")),
        ref_count(of("ref_count")) {}
  FieldPlace queuelist, donelist, q, cmd_flags, sector, nr_sectors, bio, rq_disk, start_time, special, tag, errors, ref_count;
};

struct RequestQueueFields {
  explicit RequestQueueFields(const StructureFields& of)
      : queue_head(of.list("queue_head")),
        elevator(of("elevator")),
        count{of("rq.count[READ]"), of("rq.count[WRITE]")},
        rq_pool(of("rq.rq_pool")),
        request_fn(of("request_fn")),
        make_request_fn(of("make_request_fn")),
        prep_rq_fn(of("prep_rq_fn")),
        softirq_done_fn(of("softirq_done_fn")),
        unplug_thresh(of("unplug_thresh")),
        unplug_io_fn(of("backing_dev_info.unplug_io_fn")),
        unplug_io_data(of("backing_dev_info.unplug_io_data")),
        queuedata(of("queuedata")),
        queue_flags(of("queue_flags")),
        queue_lock(of("queue_lock")),
        nr_requests(of("nr_requests")),
        queue_tags(of("queue_tags")),
        nr_sorted(of("nr_sorted")),
        in_flight(of("in_flight")) {}
  FieldPlace queue_head, elevator;
  FieldPlace count[2];
  FieldPlace rq_pool, request_fn, make_request_fn, prep_rq_fn, softirq_done_fn, unplug_thresh, unplug_io_fn, unplug_io_data,
      queuedata, queue_flags, queue_lock, nr_requests, queue_tags, nr_sorted, in_flight;
};

struct TagFields {
  explicit TagFields(const StructureFields& of)
      : tag_index(of("tag_index")),
        tag_map(of("tag_map")),
        busy_list(of.list("busy_list")),
        busy(of("busy")),
        max_depth(of("max_depth")),
        real_max_depth(of("real_max_depth")) {}
  FieldPlace tag_index, tag_map, busy_list, busy, max_depth, real_max_depth;
};

}  // namespace linebounce::workloads
