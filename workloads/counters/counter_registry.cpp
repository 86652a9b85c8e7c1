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

const CounterEntry& find_counter(const std::string& name, std::span<const CounterEntry> from_files) {
  for (const CounterEntry& entry : from_files) {
    if (entry.name == name) return entry;
  }
  std::vector<std::string> names;
  for (const CounterEntry& entry : all_counters()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  throw std::invalid_argument(fmt::format("no counter is called {}; there are: {}", name, fmt::join(names, ", ")));
}

void counter_parameter(ParameterBinder& parameters, const char* name, std::string& option, const char* meaning,
                       CounterUses wanted) {
  const auto why_not = [wanted](const CounterUses& can) -> std::string {
    if ((wanted.events && can.events) || (wanted.references && can.references)) return "";
    return can.events ? "it counts events, and not references" : "it counts references, and not events";
  };
  std::vector<std::string> choices;
  for (const CounterEntry& entry : all_counters()) {
    if (why_not({entry.create_counter != nullptr, entry.create_reference_count != nullptr}).empty())
      choices.push_back(entry.name);
  }
  parameters.text(name, option, meaning, choices);
  parameters.names_counter(why_not);
}

}  // namespace linebounce::workloads
