#include "workloads/linux26/slab/slab_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace linebounce::workloads {
namespace {

constexpr Value kSmallRefill = 16;  // BATCHREFILL_LIMIT: the refill of a cache that is little used
constexpr int kSharedBatches = 8;

}  // namespace

ArrayCache::ArrayCache(Kernel& kernel, const std::string& structure, const std::string& object, int node, int limit,
                       int batchcount)
    : object_(kernel.place(structure, object, node)),
      fields_{.avail = kernel.field(structure, "avail"),
              .limit = kernel.field(structure, "limit"),
              .batchcount = kernel.field(structure, "batchcount"),
              .touched = kernel.field(structure, "touched"),
              .entry = kernel.field(structure, "objpp")} {
  const int room = fields_.entry.size / kPointerBytes;
  if (limit < 1 || limit > room)
    throw std::invalid_argument(fmt::format("{} can hold 1 to {} objects, not {}", structure, room, limit));
  const auto preset = [&](const FieldPlace& field, int value) {
    kernel.memory().preset(object_.at(field, 0), static_cast<Value>(value), field.size);
  };
  preset(fields_.limit, limit);
  preset(fields_.batchcount, batchcount);
}

ArrayLimits array_limits(int object_bytes) {
  const int limit = object_bytes > kPageBytes ? 8 : object_bytes > 1024 ? 24 : object_bytes > 256 ? 54 : 120;
  const int batchcount = (limit + 1) / 2;
  return {.limit = limit, .batchcount = batchcount, .shared = kSharedBatches * batchcount};
}

SlabLists::SlabLists(const SlabCacheSetup& setup)
    : kernel_(setup.kernel),
      memory_(setup.kernel, setup.zones, setup.structure, setup.objects_per_node, SlabMemory::Headers::struct_slab),
      name_(setup.structure),
      limits_(array_limits(memory_.object_bytes())),
      refill_(kernel_.function("cache_alloc_refill")),
      flush_(kernel_.function("cache_flusharray")),
      grow_(kernel_.function("cache_grow")),
      free_block_(kernel_.function("free_block")),
      copy_(kernel_.function("__copy_user")),
      list_{.partial = kernel_.list_field("kmem_list3", "slabs_partial"),
            .full = kernel_.list_field("kmem_list3", "slabs_full"),
            .free = kernel_.list_field("kmem_list3", "slabs_free"),
            .free_objects = kernel_.field("kmem_list3", "free_objects"),
            .shared = kernel_.field("kmem_list3", "shared"),
            .alien = kernel_.field("kmem_list3", "alien")},
      slab_{.list = kernel_.list_field("slab", "list"),
            .inuse = kernel_.field("slab", "inuse"),
            .free = kernel_.field("slab", "free"),
            .nodeid = kernel_.field("slab", "nodeid"),
            .s_mem = kernel_.field("slab", "s_mem")},
      list_in_header_(static_cast<Address>(slab_.list.offset)) {}

List3 SlabLists::place_list(const std::string& name, int node, int cpus) {
  List3 list;
  list.object = kernel_.place("kmem_list3", name, node);
  list.lock = &kernel_.lock_in(list.object, name, "kmem_list3", "list_lock");
  for (const FieldPlace& head : {list_.partial, list_.full, list_.free})
    list64::preset_empty(kernel_.memory(), list.object.at(head, 0));
  // Linux sets a shared array's batchcount to 0xbaadf00d, because it is never read. Here it is 0.
  list.shared = std::make_unique<ArrayCache>(kernel_, "shared_array_cache", name + ".shared", node, limits_.shared, 0);
  kernel_.memory().preset(list.object.at(list_.shared, 0), list.shared->address());
  list.free_limit = (1 + cpus) * limits_.batchcount + memory_.objects_per_slab();
  return list;
}

ArrayCache SlabLists::place_cpu_array(int cpu) {
  const std::string name = fmt::format("{}.array[{}]", name_, cpu);
  return {kernel_, "array_cache", name, kernel_.node_of(cpu), limits_.limit, limits_.batchcount};
}

Address SlabLists::refill(Cpu& cpu, const ArrayCache& array, const List3& list, int node) {
  const FunctionScope scope(cpu, refill_);
  for (;;) {
    Value batch = array.batchcount(cpu);
    if (batch > kSmallRefill && array.touched(cpu) == 0) batch = kSmallRefill;
    list.lock->acquire(cpu);
    const ArrayCache& shared = shared_of(cpu, list);
    if (transfer(cpu, array, shared, batch) == 0) fill_from_slabs(cpu, array, list, batch);
    list.lock->release(cpu);
    if (array.avail(cpu) != 0) break;
    if (!grow(cpu, list, node)) return 0;
  }
  array.touch(cpu);
  return array.pop(cpu);
}

void SlabLists::fill_from_slabs(Cpu& cpu, const ArrayCache& array, const List3& list, Value count) {
  Value taken = 0;
  while (taken < count) {
    const Address entry = first_slab(cpu, list);
    if (entry == 0) break;
    const Slab& slab = slab_of_entry(entry);
    while (taken < count && slab.header.load(cpu, slab_.inuse) < static_cast<Value>(memory_.objects_per_slab())) {
      const Address object = take_object(cpu, slab);
      array.push(cpu, object);
      ++taken;
    }
    relist(cpu, list, slab);
  }
  if (taken != 0) list.object.add(cpu, list_.free_objects, -taken);
}

Address SlabLists::take_one(Cpu& cpu, const List3& list) {
  const Address entry = first_slab(cpu, list);
  if (entry == 0) return 0;
  const Slab& slab = slab_of_entry(entry);
  if (slab.header.load(cpu, slab_.inuse) == static_cast<Value>(memory_.objects_per_slab())) {
    throw ModelFailure("a slab on the list of partial ones is full");
  }
  const Address object = take_object(cpu, slab);
  list.object.add(cpu, list_.free_objects, static_cast<Value>(-1));
  relist(cpu, list, slab);
  return object;
}

// The address of the first slab's list entry; 0 if there is neither a partial nor a free slab.
Address SlabLists::first_slab(Cpu& cpu, const List3& list) const {
  for (const FieldPlace& field : {list_.partial, list_.free}) {
    const Address head = list.object.at(field, cpu);
    const Address entry = list64::next(cpu, head);
    if (entry != head) return entry;
  }
  return 0;
}

// slab_get_obj()
Address SlabLists::take_object(Cpu& cpu, const Slab& slab) {
  const Value index = slab.header.load(cpu, slab_.free);
  slab.header.load(cpu, slab_.s_mem);
  slab.header.add(cpu, slab_.inuse, 1);
  const Value next = cpu.load(slab.bufctl + index * kBufctlBytes, kBufctlBytes);
  slab.header.store(cpu, slab_.free, next);
  return slab.objects.at(index).address();
}

// slab_put_obj()
void SlabLists::put_object(Cpu& cpu, const Slab& slab, Address object) {
  slab.header.load(cpu, slab_.s_mem);
  const auto index = static_cast<Value>(memory_.find(object).index);
  const Value first = slab.header.load(cpu, slab_.free);
  cpu.store(slab.bufctl + index * kBufctlBytes, first, kBufctlBytes);
  slab.header.store(cpu, slab_.free, index);
  slab.header.add(cpu, slab_.inuse, static_cast<Value>(-1));
}

void SlabLists::relist(Cpu& cpu, const List3& list, const Slab& slab) {
  const Address entry = slab.header.at(slab_.list, cpu);
  kernel_.list_del(cpu, entry);
  const bool full = slab.header.load(cpu, slab_.free) == kBufctlEnd;
  kernel_.list_add(cpu, entry, list.object.at(full ? list_.full : list_.partial, cpu));
}

bool SlabLists::grow(Cpu& cpu, const List3& list, int node) {
  const FunctionScope scope(cpu, grow_);
  Slab* slab = memory_.take(cpu, node);
  if (slab == nullptr) return false;
  const int objects = memory_.objects_per_slab();
  slab->header.store(cpu, slab_.inuse, 0);
  slab->header.store(cpu, slab_.s_mem, slab->objects.front().address());
  slab->header.store(cpu, slab_.nodeid, static_cast<Value>(slab->node));
  slab->header.store(cpu, slab_.free, 0);
  for (int index = 0; index < objects; ++index) {
    const Value next = index + 1 < objects ? static_cast<Value>(index + 1) : kBufctlEnd;
    cpu.store(slab->bufctl + static_cast<Address>(index * kBufctlBytes), next, kBufctlBytes);
  }
  const Address entry = slab->header.at(slab_.list, cpu);
  list.lock->acquire(cpu);
  kernel_.list_add_tail(cpu, entry, list.object.at(list_.free, cpu));
  list.object.add(cpu, list_.free_objects, static_cast<Value>(objects));
  list.lock->release(cpu);
  return true;
}

void SlabLists::free_block(Cpu& cpu, const List3& list, const ArrayCache& array, Value count) {
  const FunctionScope scope(cpu, free_block_);
  for (Value i = 0; i < count; ++i) {
    const Address object = array.object_at(cpu, i);
    Slab& slab = *memory_.find(object).slab;
    const Address entry = slab.header.at(slab_.list, cpu);
    kernel_.list_del(cpu, entry);
    put_object(cpu, slab, object);
    list.object.add(cpu, list_.free_objects, 1);
    if (slab.header.load(cpu, slab_.inuse) != 0) {
      kernel_.list_add_tail(cpu, entry, list.object.at(list_.partial, cpu));
    } else if (list.object.load(cpu, list_.free_objects) > static_cast<Value>(list.free_limit)) {
      list.object.add(cpu, list_.free_objects, -static_cast<Value>(memory_.objects_per_slab()));
      memory_.give_back(cpu, slab);
    } else {
      kernel_.list_add(cpu, entry, list.object.at(list_.free, cpu));
    }
  }
}

const ArrayCache& SlabLists::shared_of(Cpu& cpu, const List3& list) const {
  list.object.load(cpu, list_.shared);
  return *list.shared;
}

void SlabLists::flush(Cpu& cpu, const ArrayCache& array, const List3& list) {
  const FunctionScope scope(cpu, flush_);
  Value batch = array.batchcount(cpu);
  list.lock->acquire(cpu);
  const ArrayCache& shared = shared_of(cpu, list);
  const Value shared_avail = shared.avail(cpu);
  const Value room = shared.limit(cpu) - shared_avail;
  if (room != 0) {
    batch = std::min(batch, room);
    const Address to = shared.entry(cpu, shared_avail);
    copy(cpu, to, array.entry(cpu, 0), batch);
    shared.set_avail(cpu, shared_avail + batch);
  } else {
    free_block(cpu, list, array, batch);
  }
  list.lock->release(cpu);
  const Value left = array.avail(cpu) - batch;
  array.set_avail(cpu, left);
  const Address oldest = array.entry(cpu, 0);
  copy(cpu, oldest, array.entry(cpu, batch), left);
}

Value SlabLists::transfer(Cpu& cpu, const ArrayCache& to, const ArrayCache& from, Value most) {
  const Value available = from.avail(cpu);
  const Value limit = to.limit(cpu);
  const Value there = to.avail(cpu);
  const Value count = std::min({available, most, limit - there});
  if (count == 0) return 0;
  const Address into = to.entry(cpu, there);
  copy(cpu, into, from.entry(cpu, available - count), count);
  from.set_avail(cpu, available - count);
  to.set_avail(cpu, there + count);
  to.touch(cpu);
  return count;
}

// memcpy() on Itanium
void SlabLists::copy(Cpu& cpu, Address to, Address from, Value pointers) {
  const FunctionScope scope(cpu, copy_);
  for (Address at = 0; at < pointers * ArrayCache::kPointerBytes; at += ArrayCache::kPointerBytes) {
    const Value pointer = cpu.load(from + at);
    cpu.store(to + at, pointer);
  }
}

}  // namespace linebounce::workloads
