// All locks by name: the locks in C++, which lock_registry.cpp lists, and the locks in Lua, from programs/locks.
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

// An operation on memory in the source of a lock, which other CPUs can see.
struct LockOperation {
  int number = 0;
  // Where it is, outside of headers, and the calls that lead from there: "my_lock.c:7", "wrappers.h:10". Never empty.
  std::vector<std::string> chain;
  bool ran = false;  // true if it has run before the simulation, in init()
};

struct LockEntry {
  std::string name;
  std::string title;
  LockTraits traits;
  std::function<std::unique_ptr<Lock>(const LockPlace&)> create;
  std::string file = {};  // path of the file of a lock in Lua; empty for a lock in C++
  // What gives a user program this lock: "ConcurrencyKit (ck_spinlock_ticket)". Empty: no library that we know of.
  std::string library = {};
  // The operations in that file; null if they aren't known. Several may have one number, which is then that of their line.
  std::function<std::vector<LockOperation>()> operations = {};
};

// All locks, sorted by name.
std::span<const LockEntry> all_locks();
// The locks of programs/locks. workloads/lua defines this function.
std::vector<LockEntry> locks_in_lua();

// Errors: std::invalid_argument, which lists the legal names.
const LockEntry& find_lock(const std::string& name);

// Returns the names of the locks whose traits satisfy `suits`.
std::vector<std::string> lock_names(const std::function<bool(const LockTraits&)>& suits);

// Declares a parameter that names a lock for data that writers change in place. `why_not` returns the reason why a lock with
// these traits is not allowed; empty if it is allowed. REQUIRES: the default is allowed.
void lock_parameter(ParameterBinder& parameters, const char* name, std::string& option, const char* meaning,
                    const std::function<std::string(const LockTraits&)>& why_not);

}  // namespace linebounce::workloads
