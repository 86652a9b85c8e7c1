// A path walk holds dcache_lock from end to end, and takes no references to the directories that it passes: only the last
// entry's count changes (OLS 2002, section 6). Everything else is as in global_lock.
#include "models/failure.hpp"
#include "workloads/linux24/dcache/designs.hpp"

namespace linebounce::workloads {
namespace {

class FastWalk final : public Dcache {
 public:
  explicit FastWalk(const DcacheSetup& setup) : Dcache(setup, "dentry") {}

  Address link_path_walk(Cpu& cpu, Address start, std::span<const Name> components, PathTimes& times) override {
    const FunctionScope scope(cpu, function_.link_path_walk);
    lock(cpu);
    Address directory = start;
    for (const Name& name : components) {
      times.before_lookup(cpu);
      const Address next = find(cpu, directory, name);
      if (next == kNoDentry) throw ModelFailure("a directory that is in use has left the dentry cache");
      pass(cpu, next, times);
      directory = next;
    }
    get_unused(cpu, directory);
    unlock(cpu);
    return directory;
  }
};

}  // namespace

DcacheDesign fast_walk_dcache() {
  return {.name = "fast_walk", .defers_freeing = false, .create = make_dcache<FastWalk>};
}

}  // namespace linebounce::workloads
