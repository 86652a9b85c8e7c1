// Future work of OLS 2004: a path walk takes no lock, and a reference only to its last entry. Everything else is as in
// lazy_lru.
#include "workloads/linux24/dcache/designs.hpp"
#include "workloads/linux24/dcache/lazy_lru.hpp"

namespace linebounce::workloads {
namespace {

class LockFreeWalk final : public LazyLru {
 public:
  using LazyLru::LazyLru;

  // RCU keeps the entries on the way from being freed. A walk that meets a change starts again, and then takes references.
  Address link_path_walk(Cpu& cpu, Address start, std::span<const Name> components, PathTimes& times) override {
    const FunctionScope scope(cpu, function_.link_path_walk);
    rcu_->read_lock(cpu);
    Address parent = start;
    for (const Name& name : components.first(components.size() - 1)) {
      times.before_lookup(cpu);
      parent = find(cpu, parent, name);
      if (parent == kNoDentry) break;
      pass(cpu, parent, times);
    }
    Address last = kNoDentry;
    if (parent != kNoDentry) {
      times.before_lookup(cpu);
      last = d_lookup(cpu, parent, components.back());
      times.after_lookup(cpu);
    }
    rcu_->read_unlock(cpu);
    return last != kNoDentry ? last : LazyLru::link_path_walk(cpu, start, components, times);
  }
};

}  // namespace

DcacheDesign lock_free_walk_dcache() {
  return {.name = "lock_free_walk", .defers_freeing = true, .create = make_dcache<LockFreeWalk>};
}

}  // namespace linebounce::workloads
