// Visits all accesses of a trace, one at a time, in one order over all CPUs.
#pragma once

#include <functional>
#include <vector>

#include "models/units.hpp"
#include "trace/reader.hpp"
#include "workloads/replay/recorded_memory.hpp"

namespace linebounce::sim {

struct CourseAccess {
  int cpu = 0;
  Address address = 0;
  int bytes = 0;
  bool writes = false;
  std::uint32_t object = 0;  // of the trace
  Address offset = 0;        // in the object
};

// An access's address in the trace, or in the program that was recorded.
Address own_address(const trace::Reader& reader, const CourseAccess& access);

// The CPU of each stream: the one that the trace names, else the stream's index.
std::vector<int> cpus_of_streams(const trace::Reader& reader);

// Calls `visit` for each access, in one order over all CPUs, and for each line of `line_bytes` that it touches. In a trace
// whose lines name their CPUs, streams sleep until they are woken, so the order of lines is kept. Other streams take turns, one
// access each. `memory`: where the trace's objects lie. Errors: TraceError if the trace synchronises in another way, or if its
// objects have no addresses.
void for_each_access(const trace::Reader& reader, const workloads::RecordedMemory& memory, int line_bytes,
                     const std::function<void(const CourseAccess&)>& visit);

}  // namespace linebounce::sim
