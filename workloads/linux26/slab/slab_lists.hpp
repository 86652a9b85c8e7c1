// The lists of slabs (kmem_list3) of mm/slab.c in Linux 2.6.20, and how objects leave and enter them: the common part of
// slab_numa and slab_unaware. All functions run with interrupts off.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "workloads/linux26/kernel/kernel.hpp"
#include "workloads/linux26/slab/slab.hpp"
#include "workloads/linux26/slab/slab_memory.hpp"

namespace linebounce::workloads {

struct ArrayFields {
  FieldPlace avail, limit, batchcount, touched, entry;
};

// struct array_cache: a stack of free objects' addresses, with a limit. An array belongs to a CPU, is shared by a node's CPUs,
// or holds another node's objects until they are sent home (an alien array).
class ArrayCache {
 public:
  // `structure`: array_cache, shared_array_cache or alien_array_cache. Errors: std::invalid_argument, if the structure has no
  // room for the limit.
  ArrayCache(Kernel& kernel, const std::string& structure, const std::string& object, int node, int limit, int batchcount);

  Value avail(Cpu& cpu) const { return object_.load(cpu, fields_.avail); }
  void set_avail(Cpu& cpu, Value avail) const { object_.store(cpu, fields_.avail, avail); }
  Value limit(Cpu& cpu) const { return object_.load(cpu, fields_.limit); }
  Value batchcount(Cpu& cpu) const { return object_.load(cpu, fields_.batchcount); }
  Value touched(Cpu& cpu) const { return object_.load(cpu, fields_.touched); }
  void touch(Cpu& cpu) const { object_.store(cpu, fields_.touched, 1); }
  [[nodiscard]] Address entry(const Cpu& cpu, Value index) const {
    return object_.at(fields_.entry, cpu) + index * kPointerBytes;
  }
  Address object_at(Cpu& cpu, Value index) const { return cpu.load(entry(cpu, index)); }

  // REQUIRES: the array is not full (push) or not empty (pop).
  void push(Cpu& cpu, Address object) const {
    const Value avail = this->avail(cpu);
    cpu.store(entry(cpu, avail), object);
    set_avail(cpu, avail + 1);
  }
  Address pop(Cpu& cpu) const {
    const Value avail = this->avail(cpu) - 1;
    set_avail(cpu, avail);
    return object_at(cpu, avail);
  }

  [[nodiscard]] Address address() const { return object_.address(); }
  [[nodiscard]] const Object& object() const { return object_; }

  static constexpr int kPointerBytes = 8;

 private:
  Object object_;
  ArrayFields fields_;
};

// One kmem_list3: one per node in slab_numa, only one in slab_unaware.
struct List3 {
  Object object;
  MeteredLock* lock = nullptr;
  std::unique_ptr<ArrayCache> shared;
  // A slab that becomes free goes back to the page allocator if the lists have more free objects than this.
  int free_limit = 0;
};

// The limits of a CPU's array and of the shared array. As in enable_cpucache(), they follow from the objects' size.
struct ArrayLimits {
  int limit = 0, batchcount = 0, shared = 0;
};
ArrayLimits array_limits(int object_bytes);

class SlabLists {
 public:
  explicit SlabLists(const SlabCacheSetup& setup);

  // Places a list3 on a node, for `cpus` CPUs.
  List3 place_list(const std::string& name, int node, int cpus);
  ArrayCache place_cpu_array(int cpu);

  // cache_alloc_refill(): fills the CPU's empty array with a batch, and takes one object from it. The batch comes from the
  // shared array; if that is empty, from slabs; if these have no free object, from a new slab of `node`. Returns 0 if no memory
  // is left there.
  Address refill(Cpu& cpu, const ArrayCache& array, const List3& list, int node);
  // cache_flusharray(): moves the oldest batch of the CPU's full array to the shared array; if that is full, to the slabs.
  void flush(Cpu& cpu, const ArrayCache& array, const List3& list);
  // Takes one object from the slabs; 0 if the lists are empty. REQUIRES: the list's lock is held.
  Address take_one(Cpu& cpu, const List3& list);
  // cache_grow(): adds a new slab of the node. Returns false if no memory is left there.
  bool grow(Cpu& cpu, const List3& list, int node);
  // free_block(): returns the array's first `count` entries to their slabs. REQUIRES: the list's lock is held.
  void free_block(Cpu& cpu, const List3& list, const ArrayCache& array, Value count);
  // The node's shared array, found through its pointer.
  const ArrayCache& shared_of(Cpu& cpu, const List3& list) const;
  // transfer_objects(): moves up to `most` objects, the latest ones; returns how many.
  Value transfer(Cpu& cpu, const ArrayCache& to, const ArrayCache& from, Value most);

  // The node on which the object's struct slab says that it is.
  Value node_of(Cpu& cpu, Address object) const { return memory_.find(object).slab->header.load(cpu, slab_.nodeid); }
  [[nodiscard]] SlabMemory& memory() { return memory_; }
  [[nodiscard]] const SlabMemory& memory() const { return memory_; }
  [[nodiscard]] FieldPlace alien_field() const { return list_.alien; }

  // Checks a list3's slabs. Adds their headers to `listed`, and the objects of its shared array to `waiting`.
  void check_list(Cpu& cpu, const List3& list, std::set<Address>& listed, std::vector<Address>& waiting);
  // Checks that each slab in use is listed, and that each of its objects is allocated, free in the slab, or in an array.
  void check_slabs(Cpu& cpu, const std::set<Address>& listed, std::vector<Address> waiting);
  void add_waiting(Cpu& cpu, const ArrayCache& array, std::vector<Address>& waiting) const;

 private:
  static constexpr Value kBufctlEnd = 0xFFFFFFFF;
  struct Lists {
    FieldPlace partial, full, free, free_objects, shared, alien;
  };
  struct Header {
    FieldPlace list, inuse, free, nodeid, s_mem;
  };

  void fill_from_slabs(Cpu& cpu, const ArrayCache& array, const List3& list, Value count);
  Address first_slab(Cpu& cpu, const List3& list) const;
  Address take_object(Cpu& cpu, const Slab& slab);
  void put_object(Cpu& cpu, const Slab& slab, Address object);
  void relist(Cpu& cpu, const List3& list, const Slab& slab);
  void copy(Cpu& cpu, Address to, Address from, Value pointers);
  [[nodiscard]] Slab& slab_of_entry(Address entry) const { return memory_.slab_with_header(entry - list_in_header_); }

  Kernel& kernel_;
  SlabMemory memory_;
  std::string name_;
  ArrayLimits limits_;
  FunctionId refill_, flush_, grow_, free_block_, copy_;
  Lists list_;
  Header slab_;
  Address list_in_header_ = 0;
};

}  // namespace linebounce::workloads
