// As in Linux 2.6.20 with CONFIG_NUMA: each node has its own lists. A CPU's array holds only objects of its own node. A node
// has an alien array for each other node: a freed object of that node goes there, and the array is sent home when it is full.
#include <fmt/format.h>

#include <unordered_map>

#include "models/failure.hpp"
#include "workloads/linux26/slab/slab_lists.hpp"

namespace linebounce::workloads {
namespace {

// Objects of one node that CPUs of another node have freed.
struct Alien {
  ArrayCache array;
  MeteredLock* lock;
};

class SlabNuma final : public SlabCache {
 public:
  explicit SlabNuma(const SlabCacheSetup& setup)
      : kernel_(setup.kernel),
        lists_(setup),
        from_aliens_(setup.options.refill_from_remote_frees),
        alloc_(kernel_.function("kmem_cache_alloc")),
        alloc_node_(kernel_.function("__cache_alloc_node")),
        refill_(kernel_.function("cache_alloc_refill")),
        free_(kernel_.function("kmem_cache_free")),
        free_alien_(kernel_.function("cache_free_alien")),
        drain_(kernel_.function("__drain_alien_cache")) {
    std::vector<int> cpus(kernel_.nodes());
    for (int cpu = 0; cpu < kernel_.cpus(); ++cpu) {
      arrays_.push_back(lists_.place_cpu_array(cpu));
      ++cpus[kernel_.node_of(cpu)];
    }
    for (int node = 0; node < kernel_.nodes(); ++node) {
      const std::string name = fmt::format("{}.node[{}]", setup.structure, node);
      nodes_.push_back(lists_.place_list(name, node, cpus[node]));
      if (kernel_.nodes() > 1) place_aliens(name, node, setup.options.alien_limit);
    }
  }

  Object alloc(Cpu& cpu) override {
    const FunctionScope scope(cpu, alloc_);
    kernel_.interrupts_off(cpu);
    const Object object = lists_.memory().give_out(take(cpu));
    kernel_.interrupts_on(cpu);
    return object;
  }

  Object alloc_on(Cpu& cpu, int node) override {
    if (node == own_node(cpu)) return alloc(cpu);
    const FunctionScope scope(cpu, alloc_);
    kernel_.interrupts_off(cpu);
    Address object = take_from_node(cpu, node);
    if (object == 0) object = fall_back(cpu, node);
    const Object given = lists_.memory().give_out(object);
    kernel_.interrupts_on(cpu);
    return given;
  }

  void free(Cpu& cpu, const Object& object) override {
    const FunctionScope scope(cpu, free_);
    kernel_.interrupts_off(cpu);
    lists_.memory().get_back(object);
    const auto node = static_cast<int>(lists_.node_of(cpu, object.address()));
    if (node != own_node(cpu)) {
      free_alien(cpu, object, node);
    } else {
      const ArrayCache& array = own_array(cpu);
      const Value avail = array.avail(cpu);
      if (avail >= array.limit(cpu)) lists_.flush(cpu, array, list_of(node));
      array.push(cpu, object.address());
    }
    kernel_.interrupts_on(cpu);
  }

  void check(Cpu& cpu) override {
    std::set<Address> listed;
    std::vector<Address> waiting;
    for (const List3& list : nodes_) lists_.check_list(cpu, list, listed, waiting);
    for (const ArrayCache& array : arrays_) lists_.add_waiting(cpu, array, waiting);
    for (const Alien& alien : aliens_) lists_.add_waiting(cpu, alien.array, waiting);
    lists_.check_slabs(cpu, listed, waiting);
  }

  [[nodiscard]] std::vector<Object> objects() const override { return lists_.memory().objects(); }

 private:
  // Places this node's alien arrays, one for each other node, and the table of pointers to them, to which `alien` points.
  void place_aliens(const std::string& name, int node, int limit) {
    const Object table = kernel_.place("alien_table", name + ".alien", node);
    const FieldPlace pointers = kernel_.field("alien_table", "alien");
    if (kernel_.nodes() * ArrayCache::kPointerBytes > pointers.size)
      throw std::invalid_argument(fmt::format("workload.layout: alien_table has no room for {} nodes", kernel_.nodes()));
    kernel_.memory().preset(nodes_.back().object.at(lists_.alien_field(), 0), table.address());
    for (int other = 0; other < kernel_.nodes(); ++other) {
      if (other == node) continue;
      const std::string alien_name = fmt::format("{}.alien[{}]", name, other);
      // Linux sets this batchcount to 0xbaadf00d, because an alien array is always emptied as a whole. Here it is 0.
      const ArrayCache array(kernel_, "alien_array_cache", alien_name, node, limit, 0);
      MeteredLock& lock = kernel_.lock_in(array.object(), alien_name, "alien_array_cache", "lock");
      alien_at_[array.address()] = aliens_.size();
      kernel_.memory().preset(table.at(pointers, 0) + static_cast<Address>(other) * ArrayCache::kPointerBytes, array.address());
      aliens_.push_back({array, &lock});
    }
  }

  [[nodiscard]] int own_node(const Cpu& cpu) const { return kernel_.node_of(cpu.id().value); }
  [[nodiscard]] const ArrayCache& own_array(const Cpu& cpu) const { return arrays_[cpu.id().value]; }
  [[nodiscard]] const List3& list_of(int node) const { return nodes_[node]; }
  // This node's array for freed objects of another node.
  const Alien& alien_for(Cpu& cpu, int other) const {
    const Address table = list_of(own_node(cpu)).object.load(cpu, lists_.alien_field());
    const Address array = cpu.load(table + static_cast<Address>(other) * ArrayCache::kPointerBytes);
    return aliens_[alien_at_.at(array)];
  }

  // ____cache_alloc()
  Address take(Cpu& cpu) {
    const ArrayCache& array = own_array(cpu);
    if (array.avail(cpu) != 0) {
      array.touch(cpu);
      return array.pop(cpu);
    }
    if (from_aliens_ && take_from_aliens(cpu, array)) return array.pop(cpu);
    const int node = own_node(cpu);
    const Address object = lists_.refill(cpu, array, list_of(node), node);
    return object != 0 ? object : fall_back(cpu, node);
  }

  // The what-if of refill_from_remote_frees: reuses objects that wait to be sent to other nodes.
  bool take_from_aliens(Cpu& cpu, const ArrayCache& array) {
    const FunctionScope scope(cpu, refill_);
    for (int other = 0; other < kernel_.nodes(); ++other) {
      if (other == own_node(cpu)) continue;
      const Alien& alien = alien_for(cpu, other);
      if (alien.array.avail(cpu) == 0) continue;
      const Value batch = array.batchcount(cpu);
      alien.lock->acquire(cpu);
      const Value taken = lists_.transfer(cpu, array, alien.array, batch);
      alien.lock->release(cpu);
      if (taken != 0) return true;
    }
    return false;
  }

  // Takes a single object of the node, under the lock of that node's lists.
  Address take_from_node(Cpu& cpu, int node) {
    const FunctionScope scope(cpu, alloc_node_);
    const List3& list = list_of(node);
    for (;;) {
      list.lock->acquire(cpu);
      const Address object = lists_.take_one(cpu, list);
      list.lock->release(cpu);
      if (object != 0 || !lists_.grow(cpu, list, node)) return object;
    }
  }

  // fallback_alloc(): takes an object of any other node that has one.
  Address fall_back(Cpu& cpu, int full) {
    for (int distance = 1; distance < kernel_.nodes(); ++distance) {
      const Address object = take_from_node(cpu, (full + distance) % kernel_.nodes());
      if (object != 0) return object;
    }
    throw ModelFailure(fmt::format("no memory is left for an object of {}", lists_.memory().structure()));
  }

  // cache_free_alien() is inlined in kmem_cache_free(). As in figure 7 of OLS 2007, only the lock counts under its own name.
  void free_alien(Cpu& cpu, const Object& object, int node) {
    const Alien& alien = alien_for(cpu, node);
    {
      const FunctionScope scope(cpu, free_alien_);
      alien.lock->acquire(cpu);
    }
    const Value avail = alien.array.avail(cpu);
    if (avail == alien.array.limit(cpu)) drain(cpu, alien.array, node);
    alien.array.push(cpu, object.address());
    alien.lock->release(cpu);
  }

  void drain(Cpu& cpu, const ArrayCache& alien, int node) {
    const FunctionScope scope(cpu, drain_);
    const List3& home = list_of(node);
    home.lock->acquire(cpu);
    const Value limit = alien.limit(cpu);
    const ArrayCache& shared = lists_.shared_of(cpu, home);
    lists_.transfer(cpu, shared, alien, limit);
    const Value left = alien.avail(cpu);
    lists_.free_block(cpu, home, alien, left);
    alien.set_avail(cpu, 0);
    home.lock->release(cpu);
  }

  Kernel& kernel_;
  SlabLists lists_;
  bool from_aliens_;
  FunctionId alloc_, alloc_node_, refill_, free_, free_alien_, drain_;
  std::vector<ArrayCache> arrays_;  // by CPU
  std::vector<List3> nodes_;
  std::vector<Alien> aliens_;
  std::unordered_map<Address, std::size_t> alien_at_;
};

}  // namespace

SlabVariant slab_numa_variant() {
  return {"slab_numa", "Lists for each node; what other nodes free waits in alien arrays (Linux 2.6.20)", make_slab<SlabNuma>};
}

}  // namespace linebounce::workloads
