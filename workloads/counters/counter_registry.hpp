// The table from name to factory of the counters: one line each.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "workloads/program/parameter_binder.hpp"

namespace linebounce::workloads {

class Counter;
class ReferenceCount;
struct CounterPlace;

// A factory is null where the counter does not support that use.
struct CounterEntry {
  std::string name;
  std::string title;
  std::function<std::unique_ptr<Counter>(const CounterPlace&)> create_counter;
  std::function<std::unique_ptr<ReferenceCount>(const CounterPlace&)> create_reference_count;
};

// What a counter can count.
struct CounterUses {
  bool events = false;
  bool references = false;
};

// In the order in which `list` shows them.
std::span<const CounterEntry> all_counters();

// By its name, or one of `from_files` by its file's path. Errors: std::invalid_argument, with the legal names.
const CounterEntry& find_counter(const std::string& name, std::span<const CounterEntry> from_files = {});

// A parameter that names a counter of events, of references, or of either.
void counter_parameter(ParameterBinder& parameters, const char* name, std::string& option, const char* meaning,
                       CounterUses wanted);

}  // namespace linebounce::workloads
