// Finds a descriptor's file in a process's table of open files (Linux 2.5 and 2.6), in several designs.
#pragma once

#include <string>

#include "workloads/locks/lock_set.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::workloads {

// Atomic operations of an SMP kernel. In a kernel for one CPU, the same operations without a lock prefix.
class KernelAtomics {
 public:
  explicit KernelAtomics(bool smp) : smp_(smp) {}
  [[nodiscard]] bool smp() const { return smp_; }
  // Adds to the word, and returns its old value.
  Value add(Cpu& cpu, Address word, Value addend, int bytes) const;

 private:
  bool smp_;
};

enum class FileTableDesign : std::uint8_t {
  rwlock,     // takes the table's lock as a reader, then a reference (2.5.66)
  rcu,        // takes no lock; takes a reference if the count is not 0, in a read-side critical section
  fget_light  // takes neither if only one task uses the table; otherwise as rwlock
};

// Instructions in addition to the memory operations.
struct FileTableCosts {
  std::int64_t fget = 0;        // fget() and fput() of one call
  std::int64_t fget_light = 0;  // fget() and fput() together, if no reference is needed
};

class FileTable {
 public:
  static constexpr int kFiles = 32;  // NR_OPEN_DEFAULT of i386

  struct Place {
    AddressSpace& memory;
    LockSet& locks;
    std::string name;
    std::string file_lock;  // the lock's algorithm
    int tasks = 1;          // number of tasks that share the table
  };
  FileTable(const Place& place, FileTableDesign design, KernelAtomics atomics, FileTableCosts costs);

  // Makes the descriptor refer to this file. REQUIRES: the simulation has not started.
  void install(AddressSpace& memory, int descriptor, Address file) const;

  // The file that fget() found, and whether put() has a reference to drop.
  struct Held {
    Address file = 0;
    bool counted = false;
  };
  Held get(Cpu& cpu, int descriptor);
  // Returns true if this was the last reference; the caller then frees the file.
  bool put(Cpu& cpu, const Held& held);

  static Address place_file(AddressSpace& memory, const std::string& name);
  // Offsets of the fields of a file that system calls use.
  static constexpr Address kOperations = 16;
  static constexpr Address kCount = 20;
  static constexpr Address kPosition = 32;

 private:
  Held get_locked(Cpu& cpu, int descriptor);
  Held get_counted(Cpu& cpu, int descriptor);
  Address look_up(Cpu& cpu, int descriptor) const;

  FileTableDesign design_;
  KernelAtomics atomics_;
  FileTableCosts costs_;
  Address files_ = 0;
  MeteredLock* lock_ = nullptr;
  FunctionId fget_ = 0;
  FunctionId fput_ = 0;
};

}  // namespace linebounce::workloads
