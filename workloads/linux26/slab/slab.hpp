// A kernel's allocator of objects of one size: caches, each with slabs of objects on every node. All objects are placed before
// the simulation. Simulated memory records which of them are free, and on which lists.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "workloads/linux26/kernel/kernel.hpp"

namespace linebounce::workloads {

class Zones;

// One cache: objects of one structure. Made by a SlabAllocator, which owns it.
class SlabCache {
 public:
  virtual ~SlabCache() = default;

  // Returns an object of this CPU's node; if that has none left, of another node.
  virtual Object alloc(Cpu& cpu) = 0;
  // An object of `node`. Interrupts may be on or off. Errors: ModelFailure, if no memory is left.
  virtual Object alloc_on(Cpu& cpu, int node) = 0;
  // Callable by any CPU and in a handler. Errors: ModelFailure, if the object is free already or belongs to another cache.
  virtual void free(Cpu& cpu, const Object& object) = 0;

  // Walks through memory and checks that lists, counts and free objects agree. REQUIRES: nobody uses the cache. Errors:
  // ModelFailure.
  virtual void check(Cpu& cpu) = 0;
  // All objects, in an arbitrary order, for callers that keep state for each.
  [[nodiscard]] virtual std::vector<Object> objects() const = 0;
};

struct SlabOptions {
  std::string variant = "slab_numa";
  int alien_limit = 12;  // a node sends another node's objects home when it has collected this many
  // slab_numa: a refill reuses objects that wait to be sent to their home nodes (OLS 2007, section 4.6).
  bool refill_from_remote_frees = false;
  // Percentage of processes' allocations that a memory policy directs to another node.
  double interleaved_pct = 0;
};

class SlabAllocator {
 public:
  SlabAllocator(Kernel& kernel, const SlabOptions& options);
  ~SlabAllocator();
  SlabAllocator(const SlabAllocator&) = delete;
  SlabAllocator& operator=(const SlabAllocator&) = delete;

  // Call before the simulation. `objects_per_node`: the largest number of objects on each node, rounded up to whole slabs.
  // Errors: std::invalid_argument if there is no such variant, if the layout file has no such structure, if the structure is
  // larger than a page, or if an array has no room for its limit.
  SlabCache& create_cache(const std::string& structure, int objects_per_node);

 private:
  Kernel& kernel_;
  SlabOptions options_;
  std::unique_ptr<Zones> zones_;
  std::vector<std::unique_ptr<SlabCache>> caches_;
};

// The arguments of a cache. Everything that it refers to outlives the cache.
struct SlabCacheSetup {
  Kernel& kernel;
  Zones& zones;
  const SlabOptions& options;
  std::string structure;
  int objects_per_node = 0;
};

// What a variant's file declares.
struct SlabVariant {
  std::string name;
  std::string title;
  std::unique_ptr<SlabCache> (*create)(const SlabCacheSetup&);
};

template <class Made>
std::unique_ptr<SlabCache> make_slab(const SlabCacheSetup& setup) {
  return std::make_unique<Made>(setup);
}

// In the order in which lists show them.
std::span<const SlabVariant> slab_variants();
// The variants' names, for a parameter's choices.
std::vector<std::string> slab_variant_names();

}  // namespace linebounce::workloads
