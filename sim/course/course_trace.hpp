// Visits all accesses of a trace, one at a time, in one order over all CPUs.
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

// The CPU of each stream: the one that the trace names, or else the stream's number.
std::vector<int> cpus_of_streams(const trace::Reader& reader);

// Calls `visit` for each access. If a trace's lines name their CPUs, its streams sleep until they are woken, which keeps the
// order of the lines. Streams without such an order take turns, one access each. Errors: TraceError for a trace that
// synchronises in another way, or whose objects have no addresses.
void for_each_access(const trace::Reader& reader, const std::function<void(const CourseAccess&)>& visit);

}  // namespace linebounce::sim
