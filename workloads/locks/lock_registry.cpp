#include "workloads/locks/lock_registry.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "workloads/locks/lock.hpp"

namespace linebounce::workloads {

// The locks in C++; each lock's file defines its entry. locks_in_lua() finds the files of locks in Lua.
LockEntry brlock();
LockEntry glibc_adaptive_mutex();
LockEntry glibc_mutex();
LockEntry glibc_rwlock();
LockEntry mutex();
LockEntry no_lock();
LockEntry qspinlock();
LockEntry rcu_lock();
LockEntry ttas_backoff();

std::span<const LockEntry> all_locks() {
  static const std::vector<LockEntry> kLocks = [] {
    std::vector<LockEntry> locks = locks_in_lua();
    for (const auto declare :
         {brlock, glibc_adaptive_mutex, glibc_mutex, glibc_rwlock, mutex, no_lock, qspinlock, rcu_lock, ttas_backoff})
      locks.push_back(declare());
    std::sort(locks.begin(), locks.end(), [](const LockEntry& a, const LockEntry& b) { return a.name < b.name; });
    return locks;
  }();
  return kLocks;
}

const LockEntry& find_lock(const std::string& name) {
  for (const LockEntry& entry : all_locks()) {
    if (entry.name == name) return entry;
  }
  throw std::invalid_argument(
      fmt::format("no lock is called {}; there are: {}", name, fmt::join(lock_names([](auto&) { return true; }), ", ")));
}

std::vector<std::string> lock_names(const std::function<bool(const LockTraits&)>& suits) {
  std::vector<std::string> names;
  for (const LockEntry& entry : all_locks()) {
    if (suits(entry.traits)) names.push_back(entry.name);
  }
  return names;
}

void lock_parameter(ParameterBinder& parameters, const char* name, std::string& option, const char* meaning,
                    const std::function<std::string(const LockTraits&)>& why_not) {
  std::vector<std::string> choices;
  std::map<std::string, std::string> refusals;
  for (const LockEntry& entry : all_locks()) {
    const bool needs_copies = entry.traits.readers == Readers::never_wait;
    const std::string reason =
        needs_copies ? "its readers keep nobody out: writers would have to publish copies, and here they write in place"
                     : why_not(entry.traits);
    if (reason.empty()) {
      choices.push_back(entry.name);
    } else {
      refusals[entry.name] = reason;
    }
  }
  parameters.text(name, option, meaning, choices, refusals);
  parameters.names_lock(why_not);
}

}  // namespace linebounce::workloads
