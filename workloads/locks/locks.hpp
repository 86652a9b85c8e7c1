// What a lock is made with.
#pragma once

#include <optional>
#include <string>

#include "workloads/locks/cpu_objects.hpp"
#include "workloads/locks/lock.hpp"
#include "workloads/locks/waits_in.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::workloads {

// What a lock keeps in the structure that it protects. What it needs beyond that, it places elsewhere.
constexpr int kLockWordBytes = 8;

// Where a lock is to be, and what a factory may need beside.
struct LockPlace {
  AddressSpace& memory;
  CpuObjects& per_cpu;          // of the CPUs that may take it
  std::string name;             // of the objects
  std::optional<Address> word;  // kLockWordBytes of an object that is there, zero; none: a line of the lock's own
  // Where waiting is counted.
  WaitsIn waits_in;
  int word_bytes = kLockWordBytes;  // of `word`; fewer only for a lock whose traits say so

  // The lock's own word or words: `layout` on lines of their own unless `word` says where.
  [[nodiscard]] Address place(Layout layout) const;
};

}  // namespace linebounce::workloads
