#include "models/core/cpu_counters.hpp"

#include <algorithm>

namespace linebounce {

// Hits are counted, not timed: a function's time in hits is their number times their latency. A hit in progress when the
// measured time ends counts in full, although its last cycles lie outside. These cycles are subtracted from `issue`, or from
// the hits of a function that issued nothing else.
TimeParts time_parts(const ThreadCounters& counters, FunctionId function, std::span<const Tick> hit_latency) {
  const FunctionCounters& counted = counters.by_function[function];
  TimeParts parts = counters.waits[function];
  for (std::size_t level = 0; level < hit_latency.size(); ++level) {
    const std::int64_t hits = counted.hits[level][ordinal(AccessKind::load)] - counted.hidden[level];
    parts[ordinal(part_of_level(static_cast<int>(level)))] += hits * hit_latency[level];
  }
  Tick& issue = parts[ordinal(TimePart::issue)];
  issue = counters.time_in_function[function] + parts[ordinal(TimePart::sleep)];
  for (std::size_t part = ordinal(TimePart::issue) + 1; part < parts.size(); ++part) issue -= parts[part];
  for (std::size_t part = ordinal(TimePart::issue) + 1; part < parts.size(); ++part) {
    const Tick outside = std::clamp<Tick>(-issue, 0, parts[part]);
    parts[part] -= outside;
    issue += outside;
  }
  return parts;
}

}  // namespace linebounce
