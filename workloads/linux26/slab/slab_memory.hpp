// The pages of a slab cache: slabs of objects that are placed on every node before the simulation. The page allocator hands
// them out and takes them back. SlabMemory finds an address's slab (virt_to_page()), and tracks which objects are allocated.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "workloads/linux26/kernel/kernel.hpp"

namespace linebounce::workloads {

constexpr int kPageBytes = 16384;  // the usual page size of ia64
constexpr int kBufctlBytes = 4;    // kmem_bufctl_t: an index

// Throws the ModelFailure of a cache's check().
[[noreturn]] void inconsistent(const std::string& what);

// The page allocator's locks, one for each node.
class Zones {
 public:
  explicit Zones(Kernel& kernel);
  MeteredLock& lock(int node) { return *locks_[node]; }

 private:
  std::vector<MeteredLock*> locks_;
};

struct Slab {
  int node = 0;
  std::string name;
  Object header;       // a structure slab or page
  Address bufctl = 0;  // for each object, the index of the next free one
  std::vector<Object> objects;
};

class SlabMemory {
 public:
  // struct_slab: bufctl follows the header; both are in the page, or outside if objects are large. struct_page: the headers of
  // all pages of a node are in one array.
  enum class Headers { struct_slab, struct_page };

  // Errors: std::invalid_argument, if an object does not fit in a page.
  SlabMemory(Kernel& kernel, Zones& zones, const std::string& structure, int objects_per_node, Headers headers);

  // Takes a page of this node; null if none is left.
  Slab* take(Cpu& cpu, int node);
  // Returns the page. REQUIRES for take() and give_back(): interrupts are off.
  void give_back(Cpu& cpu, Slab& slab);

  struct Place {
    Slab* slab;
    int index;
  };
  // Errors: ModelFailure if the address is not that of an object of this cache.
  [[nodiscard]] Place find(Address object) const;
  // Errors: ModelFailure if it is not a header of this cache.
  [[nodiscard]] Slab& slab_with_header(Address header) const;

  // Mark an object as allocated (give_out) or free (get_back). Errors: ModelFailure if it already was.
  Object give_out(Address object);
  void get_back(const Object& object);

  [[nodiscard]] int objects_per_slab() const { return objects_per_slab_; }
  [[nodiscard]] int object_bytes() const { return object_bytes_; }
  [[nodiscard]] bool is_given_out(const Slab& slab, int index) const;
  // The slabs that the page allocator has handed out. REQUIRES: nobody uses the cache.
  [[nodiscard]] std::vector<Slab*> slabs_in_use();
  void for_each_slab(const std::function<void(const Slab&)>& visit) const;
  [[nodiscard]] std::vector<Object> objects() const;
  [[nodiscard]] const std::string& structure() const { return structure_; }

 private:
  void place_header(Slab& slab, Headers headers);
  void place_page(Slab& slab, int number, Headers headers);

  Kernel& kernel_;
  Zones& zones_;
  std::string structure_;
  FunctionId take_, give_back_;
  int object_bytes_ = 0;
  int objects_per_slab_ = 0;
  int colours_ = 1;
  bool header_inside_ = false;
  std::deque<Slab> slabs_;
  std::vector<std::vector<Slab*>> free_;  // by node; guarded by the zone's lock
  std::unordered_map<Address, Slab*> by_header_;
  std::unordered_map<Address, Place> by_object_;
  std::unordered_map<Address, bool> given_out_;  // true: allocated. Only the object's holder changes its entry
};

}  // namespace linebounce::workloads
