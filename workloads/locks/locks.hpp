// The arguments of a lock's factory.
#pragma once

#include <optional>
#include <string>

#include "workloads/locks/cpu_objects.hpp"
#include "workloads/locks/lock.hpp"
#include "workloads/locks/waits_in.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::workloads {

// The size of a lock's word inside the structure that it protects. Whatever else the lock needs is placed elsewhere.
constexpr int kLockWordBytes = 8;

// Tells a factory where to place a lock, and gives it what it may need for that.
struct LockPlace {
  AddressSpace& memory;
  CpuObjects& per_cpu;          // per-CPU objects, shared with other locks
  std::string name;             // the lock's name; its objects get the same name
  std::optional<Address> word;  // a zeroed word in an existing object; empty: the lock gets a separate line
  // The functions in which reports count waiting.
  WaitsIn waits_in;
  int word_bytes = kLockWordBytes;  // size of `word`; smaller only for a lock with the trait fits_4_bytes

  // Returns `word` if it is set. Otherwise places the lock's word or words, `layout`, on a separate line.
  [[nodiscard]] Address place(Layout layout) const;
};

}  // namespace linebounce::workloads
