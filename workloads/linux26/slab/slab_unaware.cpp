// As in Linux 2.6.9: each cache has a single set of lists, with slabs of all nodes. A CPU frees and allocates objects through
// its own array, whatever their home node is.
#include <fmt/format.h>

#include "models/failure.hpp"
#include "workloads/linux26/slab/slab_lists.hpp"

namespace linebounce::workloads {
namespace {

class SlabUnaware final : public SlabCache {
 public:
  explicit SlabUnaware(const SlabCacheSetup& setup)
      : kernel_(setup.kernel),
        lists_(setup),
        alloc_(kernel_.function("kmem_cache_alloc")),
        free_(kernel_.function("kmem_cache_free")),
        list_(lists_.place_list(setup.structure + ".lists", 0, kernel_.cpus())) {
    for (int cpu = 0; cpu < kernel_.cpus(); ++cpu) arrays_.push_back(lists_.place_cpu_array(cpu));
  }

  Object alloc(Cpu& cpu) override {
    const FunctionScope scope(cpu, alloc_);
    kernel_.interrupts_off(cpu);
    const ArrayCache& array = own_array(cpu);
    Address object = 0;
    if (array.avail(cpu) != 0) {
      array.touch(cpu);
      object = array.pop(cpu);
    } else {
      object = refill(cpu, array);
    }
    const Object given = lists_.memory().give_out(object);
    kernel_.interrupts_on(cpu);
    return given;
  }

  Object alloc_on(Cpu& cpu, int) override { return alloc(cpu); }

  void free(Cpu& cpu, const Object& object) override {
    const FunctionScope scope(cpu, free_);
    kernel_.interrupts_off(cpu);
    lists_.memory().get_back(object);
    const ArrayCache& array = own_array(cpu);
    const Value avail = array.avail(cpu);
    if (avail >= array.limit(cpu)) lists_.flush(cpu, array, list_);
    array.push(cpu, object.address());
    kernel_.interrupts_on(cpu);
  }

  void check(Cpu& cpu) override {
    std::set<Address> listed;
    std::vector<Address> waiting;
    lists_.check_list(cpu, list_, listed, waiting);
    for (const ArrayCache& array : arrays_) lists_.add_waiting(cpu, array, waiting);
    lists_.check_slabs(cpu, listed, waiting);
  }

  [[nodiscard]] std::vector<Object> objects() const override { return lists_.memory().objects(); }

 private:
  // A new slab's page comes from this CPU's node; if that has none left, from the next node that has one.
  Address refill(Cpu& cpu, const ArrayCache& array) {
    const int own = kernel_.node_of(cpu.id().value);
    for (int distance = 0; distance < kernel_.nodes(); ++distance) {
      const Address object = lists_.refill(cpu, array, list_, (own + distance) % kernel_.nodes());
      if (object != 0) return object;
    }
    throw ModelFailure(fmt::format("no memory is left for an object of {}", lists_.memory().structure()));
  }
  [[nodiscard]] const ArrayCache& own_array(const Cpu& cpu) const { return arrays_[cpu.id().value]; }

  Kernel& kernel_;
  SlabLists lists_;
  FunctionId alloc_, free_;
  List3 list_;
  std::vector<ArrayCache> arrays_;  // by CPU
};

}  // namespace

SlabVariant slab_unaware_variant() {
  return {"slab_unaware", "One set of lists for all nodes (Linux 2.6.9)", make_slab<SlabUnaware>};
}

}  // namespace linebounce::workloads
