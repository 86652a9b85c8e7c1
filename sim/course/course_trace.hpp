// A trace's accesses, one at a time, in one order for all CPUs.
#pragma once

#include <functional>
#include <vector>

#include "models/units.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

struct CourseAccess {
  int cpu = 0;
  Address address = 0;
  int bytes = 0;
  bool writes = false;
};

// By stream, the CPU whose accesses it has: its own, or the stream's number where the trace names none.
std::vector<int> cpus_of_streams(const trace::Reader& reader);

// Calls `visit` for each access. A stream that sleeps waits for its wake-ups, which keeps the order of a trace whose lines name
// their CPUs. Streams without such an order take turns, an access each. Errors: TraceError for a trace that synchronises in
// another way, or whose objects have no addresses.
void for_each_access(const trace::Reader& reader, const std::function<void(const CourseAccess&)>& visit);

}  // namespace linebounce::sim
