// The places in a lock's file that order memory, and the lock with weaker orders at some of them.
#pragma once

#include <string>
#include <vector>

#include "workloads/locks/lock_registry.hpp"
#include "workloads/program/source_file.hpp"

namespace linebounce::sim {

struct OrderedPlace {
  int line = 0;
  std::vector<std::string> orders;  // the file's own first, then weaker ones: "store_release", "store"
};

class OrderedLock {
 public:
  virtual ~OrderedLock() = default;
  [[nodiscard]] const std::vector<OrderedPlace>& places() const { return places_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  // The lock's file, with orders[chosen[i]] at place i.
  [[nodiscard]] virtual workloads::SourceFile with(const std::vector<int>& chosen) const = 0;

 protected:
  std::vector<OrderedPlace> places_;
  std::string file_;
};

// `source`: as load_lua_file() gives it. Of a lock in C, the places are those that a check of two CPUs reaches. Errors:
// LuaError, NotCheckable.
std::unique_ptr<OrderedLock> ordered_lock(const workloads::SourceFile& source);

}  // namespace linebounce::sim
