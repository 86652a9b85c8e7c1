// The unqueued allocator of Linux 2.6.22 (mm/slub.c). Each CPU has an active slab, whose free objects are linked through their
// own memory, and takes objects from it without a lock. A freed object returns to its slab, under that slab's lock; a slab that
// was full then joins its node's partial list. The lists' heads, counts and locks are in struct page.
#include <fmt/format.h>

#include <set>
#include <stdexcept>
#include <unordered_map>

#include "models/failure.hpp"
#include "workloads/linux26/slab/slab.hpp"
#include "workloads/linux26/slab/slab_memory.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kPointerBytes = 8;
constexpr Value kMinPartial = 2;  // how many free slabs a node keeps

class Slub final : public SlabCache {
 public:
  explicit Slub(const SlabCacheSetup& setup)
      : kernel_(setup.kernel),
        memory_(setup.kernel, setup.zones, setup.structure, setup.objects_per_node, SlabMemory::Headers::struct_page),
        alloc_(kernel_.function("kmem_cache_alloc")),
        slow_alloc_(kernel_.function("__slab_alloc")),
        get_partial_(kernel_.function("get_partial_node")),
        deactivate_(kernel_.function("deactivate_slab")),
        add_partial_(kernel_.function("add_partial")),
        remove_partial_(kernel_.function("remove_partial")),
        new_slab_(kernel_.function("new_slab")),
        free_(kernel_.function("kmem_cache_free")),
        slow_free_(kernel_.function("__slab_free")),
        cpu_slab_(kernel_.field("kmem_cache_slub", "cpu_slab")),
        frozen_(kernel_.field("page", "frozen")),
        inuse_(kernel_.field("page", "inuse")),
        lockless_freelist_(kernel_.field("page", "lockless_freelist")),
        freelist_(kernel_.field("page", "freelist")),
        lru_(kernel_.list_field("page", "lru")),
        nr_partial_(kernel_.field("kmem_cache_node", "nr_partial")),
        partial_(kernel_.list_field("kmem_cache_node", "partial")),
        cache_(kernel_.place("kmem_cache_slub", setup.structure + ".kmem_cache", 0)) {
    if (kernel_.cpus() * kPointerBytes > cpu_slab_.size)
      throw std::invalid_argument(fmt::format("workload.layout: kmem_cache_slub has no room for {} CPUs", kernel_.cpus()));
    for (int node = 0; node < kernel_.nodes(); ++node) {
      const std::string name = fmt::format("{}.node[{}]", setup.structure, node);
      Node& own = nodes_.emplace_back();
      own.object = kernel_.place("kmem_cache_node", name, node);
      own.lock = &kernel_.lock_in(own.object, name, "kmem_cache_node", "list_lock");
      list64::preset_empty(kernel_.memory(), own.object.at(partial_, 0));
    }
    memory_.for_each_slab(
        [this](const Slab& slab) { locks_[&slab] = &kernel_.lock_in(slab.header, slab.name, "page", "flags"); });
  }

  Object alloc(Cpu& cpu) override { return alloc_from(cpu, kAnyNode); }
  Object alloc_on(Cpu& cpu, int node) override { return alloc_from(cpu, node); }

  void free(Cpu& cpu, const Object& object) override {
    const FunctionScope scope(cpu, free_);
    kernel_.interrupts_off(cpu);
    memory_.get_back(object);
    Slab& slab = *memory_.find(object.address()).slab;
    if (active(cpu) == &slab) {
      const Value next = slab.header.load(cpu, lockless_freelist_);
      cpu.store(object.address(), next);
      slab.header.store(cpu, lockless_freelist_, object.address());
    } else {
      slow_free(cpu, slab, object.address());
    }
    kernel_.interrupts_on(cpu);
  }

  void check(Cpu& cpu) override;
  [[nodiscard]] std::vector<Object> objects() const override { return memory_.objects(); }

 private:
  static constexpr int kAnyNode = -1;
  struct Node {
    Object object;
    MeteredLock* lock = nullptr;
  };

  [[nodiscard]] Node& node_of(const Slab& slab) { return nodes_[slab.node]; }
  [[nodiscard]] MeteredLock& lock_of(const Slab& slab) const { return *locks_.at(&slab); }
  [[nodiscard]] Address cpu_slab(int cpu) const {
    const Address first = cache_.at(cpu_slab_, cpu);
    return first + static_cast<Address>(cpu) * kPointerBytes;
  }
  // This CPU's active slab; null if it has none.
  Slab* active(Cpu& cpu) const {
    const Address page = cpu.load(cpu_slab(cpu.id().value));
    return page == 0 ? nullptr : &memory_.slab_with_header(page);
  }
  [[nodiscard]] static bool suits(const Slab& slab, int node) { return node == kAnyNode || slab.node == node; }

  Object alloc_from(Cpu& cpu, int node) {
    const FunctionScope scope(cpu, alloc_);
    kernel_.interrupts_off(cpu);
    Slab* slab = active(cpu);
    Address object = slab != nullptr ? slab->header.load(cpu, lockless_freelist_) : 0;
    if (object != 0 && suits(*slab, node)) {
      const Value next = cpu.load(object);
      slab->header.store(cpu, lockless_freelist_, next);
    } else {
      object = slow_alloc(cpu, slab, node);
    }
    const Object given = memory_.give_out(object);
    kernel_.interrupts_on(cpu);
    return given;
  }

  // Takes the objects that other CPUs have freed into this CPU's slab. If there are none, makes another slab this CPU's active
  // one.
  Address slow_alloc(Cpu& cpu, Slab* slab, int node) {
    const FunctionScope scope(cpu, slow_alloc_);
    if (slab != nullptr) {
      lock_of(*slab).acquire(cpu);
      const Address object = suits(*slab, node) ? slab->header.load(cpu, freelist_) : 0;
      if (object != 0) return load_freelist(cpu, *slab, object);
      deactivate(cpu, *slab);
    }
    slab = get_partial(cpu, node);
    if (slab == nullptr) slab = new_slab(cpu, node);
    cpu.store(cpu_slab(cpu.id().value), slab->header.address());
    const Address object = slab->header.load(cpu, freelist_);
    return load_freelist(cpu, *slab, object);
  }

  // Returns the first object; the rest of the list becomes the CPU's lockless list. Releases the slab's lock.
  Address load_freelist(Cpu& cpu, const Slab& slab, Address object) {
    const Value next = cpu.load(object);
    slab.header.store(cpu, lockless_freelist_, next);
    slab.header.store(cpu, inuse_, static_cast<Value>(memory_.objects_per_slab()));
    slab.header.store(cpu, freelist_, 0);
    lock_of(slab).release(cpu);
    return object;
  }

  // REQUIRES: the slab's lock is held; releases it.
  void deactivate(Cpu& cpu, Slab& slab) {
    const FunctionScope scope(cpu, deactivate_);
    for (;;) {
      const Address object = slab.header.load(cpu, lockless_freelist_);
      if (object == 0) break;
      const Value next = cpu.load(object);
      slab.header.store(cpu, lockless_freelist_, next);
      const Value first = slab.header.load(cpu, freelist_);
      cpu.store(object, first);
      slab.header.store(cpu, freelist_, object);
      slab.header.add(cpu, inuse_, static_cast<Value>(-1));
    }
    cpu.store(cpu_slab(cpu.id().value), 0);
    slab.header.store(cpu, frozen_, 0);
    const bool empty = slab.header.load(cpu, inuse_) == 0;
    if (empty && node_of(slab).object.load(cpu, nr_partial_) >= kMinPartial) {
      lock_of(slab).release(cpu);
      memory_.give_back(cpu, slab);
      return;
    }
    if (empty || slab.header.load(cpu, freelist_) != 0) add_partial(cpu, slab, empty);
    lock_of(slab).release(cpu);
  }

  // Takes a slab off a node's partial list, and returns it locked and frozen. With kAnyNode, tries the CPU's own node first.
  Slab* get_partial(Cpu& cpu, int node) {
    const int first = node == kAnyNode ? kernel_.node_of(cpu.id().value) : node;
    const int nodes = node == kAnyNode ? kernel_.nodes() : 1;
    for (int distance = 0; distance < nodes; ++distance) {
      Slab* slab = get_partial_of(cpu, nodes_[(first + distance) % kernel_.nodes()]);
      if (slab != nullptr) return slab;
    }
    return nullptr;
  }

  Slab* get_partial_of(Cpu& cpu, const Node& node) {
    const FunctionScope scope(cpu, get_partial_);
    if (node.object.load(cpu, nr_partial_) == 0) return nullptr;
    node.lock->acquire(cpu);
    Slab* found = nullptr;
    const Address head = node.object.at(partial_, cpu);
    for (Address entry = list64::next(cpu, head); entry != head && found == nullptr; entry = list64::next(cpu, entry)) {
      Slab& slab = slab_of_entry(entry);
      if (!lock_of(slab).try_acquire(cpu)) continue;
      kernel_.list_del(cpu, entry);
      node.object.add(cpu, nr_partial_, static_cast<Value>(-1));
      slab.header.store(cpu, frozen_, 1);
      found = &slab;
    }
    node.lock->release(cpu);
    return found;
  }

  Slab* new_slab(Cpu& cpu, int node) {
    const FunctionScope scope(cpu, new_slab_);
    const int first = node == kAnyNode ? kernel_.node_of(cpu.id().value) : node;
    Slab* slab = nullptr;
    for (int distance = 0; distance < kernel_.nodes() && slab == nullptr; ++distance)
      slab = memory_.take(cpu, (first + distance) % kernel_.nodes());
    if (slab == nullptr) throw ModelFailure(fmt::format("no memory is left for an object of {}", memory_.structure()));
    for (std::size_t i = 0; i < slab->objects.size(); ++i) {
      const Value next = i + 1 < slab->objects.size() ? slab->objects[i + 1].address() : 0;
      cpu.store(slab->objects[i].address(), next);
    }
    slab->header.store(cpu, freelist_, slab->objects.front().address());
    slab->header.store(cpu, lockless_freelist_, 0);
    slab->header.store(cpu, inuse_, 0);
    lock_of(*slab).acquire(cpu);
    slab->header.store(cpu, frozen_, 1);
    return slab;
  }

  void slow_free(Cpu& cpu, Slab& slab, Address object) {
    const FunctionScope scope(cpu, slow_free_);
    lock_of(slab).acquire(cpu);
    const Value prior = slab.header.load(cpu, freelist_);
    cpu.store(object, prior);
    slab.header.store(cpu, freelist_, object);
    const Value inuse = slab.header.load(cpu, inuse_) - 1;
    slab.header.store(cpu, inuse_, inuse);
    const bool frozen = slab.header.load(cpu, frozen_) != 0;
    if (!frozen && inuse == 0) {
      if (prior != 0) remove_partial(cpu, slab);
      lock_of(slab).release(cpu);
      memory_.give_back(cpu, slab);
      return;
    }
    if (!frozen && prior == 0) add_partial(cpu, slab, false);
    lock_of(slab).release(cpu);
  }

  void add_partial(Cpu& cpu, const Slab& slab, bool at_tail) {
    const FunctionScope scope(cpu, add_partial_);
    const Node& node = node_of(slab);
    const Address entry = slab.header.at(lru_, cpu);
    const Address head = node.object.at(partial_, cpu);
    node.lock->acquire(cpu);
    node.object.add(cpu, nr_partial_, 1);
    if (at_tail) {
      kernel_.list_add_tail(cpu, entry, head);
    } else {
      kernel_.list_add(cpu, entry, head);
    }
    node.lock->release(cpu);
  }

  void remove_partial(Cpu& cpu, const Slab& slab) {
    const FunctionScope scope(cpu, remove_partial_);
    const Node& node = node_of(slab);
    node.lock->acquire(cpu);
    kernel_.list_del(cpu, slab.header.at(lru_, cpu));
    node.object.add(cpu, nr_partial_, static_cast<Value>(-1));
    node.lock->release(cpu);
  }

  [[nodiscard]] Slab& slab_of_entry(Address entry) const {
    return memory_.slab_with_header(entry - static_cast<Address>(lru_.offset));
  }

  Kernel& kernel_;
  SlabMemory memory_;
  FunctionId alloc_, slow_alloc_, get_partial_, deactivate_, add_partial_, remove_partial_, new_slab_, free_, slow_free_;
  FieldPlace cpu_slab_, frozen_, inuse_, lockless_freelist_, freelist_, lru_, nr_partial_, partial_;
  Object cache_;
  std::vector<Node> nodes_;
  std::unordered_map<const Slab*, MeteredLock*> locks_;
};

void Slub::check(Cpu& cpu) {
  std::set<Address> partial, active;
  for (const Node& node : nodes_) {
    const Address head = node.object.at(partial_, cpu);
    Value slabs = 0;
    for (Address entry = list64::next(cpu, head); entry != head; entry = list64::next(cpu, entry)) {
      if (!partial.insert(slab_of_entry(entry).header.address()).second) inconsistent("a slab is on two lists");
      ++slabs;
    }
    if (node.object.load(cpu, nr_partial_) != slabs) inconsistent("nr_partial is not the length of the list");
  }
  for (int of = 0; of < kernel_.cpus(); ++of) {
    const Address page = cpu.load(cpu_slab(of));
    if (page != 0 && !active.insert(page).second) inconsistent("a slab is two CPUs'");
  }
  for (const Slab* slab : memory_.slabs_in_use()) {
    const bool listed = partial.count(slab->header.address()) != 0;
    const bool frozen = active.count(slab->header.address()) != 0;
    if ((slab->header.load(cpu, frozen_) != 0) != frozen) inconsistent("a slab is frozen and no CPU's, or the reverse");
    const Address first = slab->header.load(cpu, freelist_);
    if (listed != (!frozen && first != 0)) inconsistent("a slab is on a list and has nothing free, or the reverse");
    std::vector<int> places(slab->objects.size());
    Value on_freelist = 0;
    for (Address object = first; object != 0; object = cpu.load(object)) {
      if (++on_freelist > places.size()) inconsistent("a list of free objects has no end");
      ++places[memory_.find(object).index];
    }
    if (slab->header.load(cpu, inuse_) != places.size() - on_freelist)
      inconsistent("inuse is not what the list of free objects says");
    for (Address object = slab->header.load(cpu, lockless_freelist_); object != 0; object = cpu.load(object)) {
      if (++places[memory_.find(object).index] > 1) inconsistent("an object is free twice");
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      places[i] += memory_.is_given_out(*slab, static_cast<int>(i)) ? 1 : 0;
      if (places[i] != 1) inconsistent(fmt::format("an object of {} is in {} places", slab->name, places[i]));
    }
  }
}

}  // namespace

SlabVariant slub_variant() {
  return {"slub", "No queues: each CPU has a slab, and what others free goes to its slab (Linux 2.6.22)", make_slab<Slub>};
}

}  // namespace linebounce::workloads
