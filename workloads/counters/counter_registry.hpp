// The table from name to factory of the counters: one line each.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace linebounce::workloads {

class Counter;
class ReferenceCount;
struct CounterPlace;

// A factory is null where the counter does not support that use.
struct CounterEntry {
  std::string name;
  std::string title;
  std::unique_ptr<Counter> (*create_counter)(const CounterPlace&);
  std::unique_ptr<ReferenceCount> (*create_reference_count)(const CounterPlace&);
};

// In the order in which `list` shows them.
std::span<const CounterEntry> all_counters();

// Errors: std::invalid_argument, with the legal names.
const CounterEntry& find_counter(const std::string& name);

// Names of the counters of references, or of events, for a parameter's choices.
std::vector<std::string> counter_names(bool references);

}  // namespace linebounce::workloads
