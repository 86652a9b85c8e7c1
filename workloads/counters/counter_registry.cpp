#include "workloads/counters/counter_registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "workloads/counters/counters.hpp"

namespace linebounce::workloads {

std::span<const CounterEntry> all_counters() {
  static const std::vector<CounterEntry> kCounters = {
      {"under_lock", "Events, in a plain word that a lock protects", make_counter_under_lock, nullptr},
      {"atomic", "Events or references, by atomic addition", make_atomic_counter, make_atomic_reference_count},
      {"cmpxchg_loop", "Events, by compare-and-exchange until it succeeds", make_cmpxchg_counter, nullptr},
      {"per_cpu", "Events, in one word per CPU", make_per_cpu_counter, nullptr},
      {"bigref", "References, in one word per CPU; in one shared word once the object is dying", nullptr, make_bigref},
      {"dec_and_lock", "References, by compare-and-exchange; the last one under a lock", nullptr, make_dec_and_lock},
      {"lockref", "References, beside a spin lock in one word", nullptr, make_lockref},
  };
  return kCounters;
}

const CounterEntry& find_counter(const std::string& name) {
  std::vector<std::string> names;
  for (const CounterEntry& entry : all_counters()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  throw std::invalid_argument(fmt::format("no counter is called {}; there are: {}", name, fmt::join(names, ", ")));
}

std::vector<std::string> counter_names(bool references) {
  std::vector<std::string> names;
  for (const CounterEntry& entry : all_counters()) {
    if (references ? entry.create_reference_count != nullptr : entry.create_counter != nullptr) names.push_back(entry.name);
  }
  return names;
}

}  // namespace linebounce::workloads
