#include "workloads/counters/counter_registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "models/listed.hpp"

namespace linebounce::workloads {

std::span<const CounterEntry> all_counters() {
  static const std::vector<CounterEntry> kCounters = {
      LISTED(MakeCounterEntry, under_lock_counter)(),   LISTED(MakeCounterEntry, atomic_counter)(),
      LISTED(MakeCounterEntry, cmpxchg_loop_counter)(), LISTED(MakeCounterEntry, per_cpu_counter)(),
      LISTED(MakeCounterEntry, bigref_counter)(),       LISTED(MakeCounterEntry, dec_and_lock_counter)(),
      LISTED(MakeCounterEntry, lockref_counter)(),
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
