// The slab cache of dentries as of Linux 2.4: each CPU has some free objects of its own and gets or gives back a batch of them
// under the cache's lock. Free objects are linked through a word that holds no poison.
#pragma once

#include <vector>

#include "workloads/linux24/dcache/dentry.hpp"
#include "workloads/locks/lock_set.hpp"

namespace linebounce::workloads {

class DentrySlab {
 public:
  DentrySlab(AddressSpace& memory, LockSet& locks, const Layout& layout, int objects, int cpus, FunctionId function);

  // Errors: ModelFailure if all objects are in use.
  Address allocate(Cpu& cpu);
  void free(Cpu& cpu, Address object);

  [[nodiscard]] const std::vector<Address>& objects() const { return objects_; }
  [[nodiscard]] std::size_t number_of(Address object) const { return (object - objects_.front()) / stride_; }

 private:
  static constexpr Value kBatch = 30;  // 2.4's batchcount for small objects
  void refill(Cpu& cpu, Address own);
  void flush(Cpu& cpu, Address own);
  void push(Cpu& cpu, Address head, Address object) const;
  Address pop(Cpu& cpu, Address head) const;

  Address link_;  // offset in a free object

  MeteredLock* lock_;
  FunctionId function_;
  Address shared_ = 0;  // head of the list that all share; behind it its length
  std::vector<Address> objects_;
  Address stride_ = 1;
  std::vector<Address> by_cpu_;  // the same for each CPU
};

}  // namespace linebounce::workloads
