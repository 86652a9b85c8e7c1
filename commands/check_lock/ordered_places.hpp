// Finds the places in a lock's file that order memory, and makes variants of the lock with weaker orders there.
#pragma once

#include <string>
#include <vector>

#include "workloads/locks/lock_registry.hpp"
#include "workloads/program/source_file.hpp"

namespace linebounce::sim {

struct OrderedPlace {
  int line = 0;
  std::vector<std::string> chain;  // where it is, outside of headers, and the calls that lead from there: "lock.c:7", "w.h:10"
  // True for a load or read-modify-write: the models of machines have one order for all of them.
  bool is_for_c11 = false;
  std::vector<std::string> orders;  // the file's own order first, then weaker ones: "store_release", "store"

  [[nodiscard]] bool has_orders_under(workloads::MemoryModel model) const {
    return model == workloads::MemoryModel::c11 || !is_for_c11;
  }
};

class OrderedLock {
 public:
  virtual ~OrderedLock() = default;
  [[nodiscard]] const std::vector<OrderedPlace>& places() const { return places_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  // Places that order memory, but that no CPU reaches in the smallest cases, so that nothing would show what they are for.
  [[nodiscard]] const std::vector<std::string>& unreached() const { return unreached_; }
  // The lock's file with the order orders[chosen[i]] at place i.
  [[nodiscard]] virtual workloads::SourceFile with(const std::vector<int>& chosen) const = 0;

 protected:
  std::vector<OrderedPlace> places_;
  std::vector<std::string> unreached_;
  std::string file_;
};

// `source`: from load_lua_file(). For a lock in C, only the places that two CPUs reach in the smallest cases are found. Errors:
// LuaError, NotCheckable.
std::unique_ptr<OrderedLock> ordered_lock(const workloads::SourceFile& source);

}  // namespace linebounce::sim
