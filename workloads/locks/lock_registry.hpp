// All locks, by name: those in C++, one line each in lock_registry.cpp, and those of programs/locks.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "workloads/locks/lock_traits.hpp"
#include "workloads/program/parameter_binder.hpp"

namespace linebounce::workloads {

class Lock;
struct LockPlace;

struct LockEntry {
  std::string name;
  std::string title;
  LockTraits traits;
  std::function<std::unique_ptr<Lock>(const LockPlace&)> create;
  std::string file = {};  // of one in Lua
};

// Sorted by name.
std::span<const LockEntry> all_locks();
// Those of programs/locks: workloads/lua has them.
std::vector<LockEntry> locks_in_lua();

// Errors: std::invalid_argument, with the legal names.
const LockEntry& find_lock(const std::string& name);

// Names of the locks that `suits`, for a parameter's choices.
std::vector<std::string> lock_names(const std::function<bool(const LockTraits&)>& suits);

// A parameter that names a lock for data that writers change in place. `why_not` says what forbids a lock of these traits here;
// empty: it may be chosen. REQUIRES: the default may be chosen.
void lock_parameter(ParameterBinder& parameters, const char* name, std::string& option, const char* meaning,
                    const std::function<std::string(const LockTraits&)>& why_not);

}  // namespace linebounce::workloads
