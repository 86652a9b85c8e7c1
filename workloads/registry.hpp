// The tables from name to factory: one line a workload, a lock, a counter.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "workloads/locks/lock_traits.hpp"
#include "workloads/program/parameters.hpp"

namespace linebounce {

class Workload;
class Lock;
struct LockPlace;
class Counter;
class ReferenceCount;
struct CounterPlace;

struct WorkloadEntry {
  std::string name;
  std::string title;
  std::vector<ParameterDeclaration> parameters;
  std::unique_ptr<Workload> (*create)(const Parameters&);
};

struct LockEntry {
  std::string name;
  std::string title;
  LockTraits traits;
  std::unique_ptr<Lock> (*create)(const LockPlace&);
};

// What it can't count has no factory.
struct CounterEntry {
  std::string name;
  std::string title;
  std::unique_ptr<Counter> (*create_counter)(const CounterPlace&);
  std::unique_ptr<ReferenceCount> (*create_reference_count)(const CounterPlace&);
};

// In the order in which `list` shows them.
std::span<const WorkloadEntry> workloads();
std::span<const LockEntry> locks();
std::span<const CounterEntry> counters();

// Errors: std::invalid_argument, with the legal names.
const LockEntry& find_lock(const std::string& name);
const CounterEntry& find_counter(const std::string& name);

// Names for a parameter's choices: of the locks that `suits`; of the counters of references, or of events.
std::vector<std::string> lock_names(const std::function<bool(const LockTraits&)>& suits);
std::vector<std::string> counter_names(bool references);

// A parameter that names a lock for data that writers change in place. `why_not` says what forbids a lock of these traits here;
// empty: it may be chosen. REQUIRES: `otherwise` may be chosen.
ParameterDeclaration lock_parameter(const std::string& name, const std::string& otherwise, const std::string& meaning,
                                    const std::function<std::string(const LockTraits&)>& why_not);

}  // namespace linebounce
