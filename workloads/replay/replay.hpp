// The workload `replay`: runs a trace's operations, on any machine and with any locks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "workloads/program/parameters.hpp"

namespace linebounce::trace {
struct Lock;
}

namespace linebounce::workloads {

struct LockEntry;
struct SectionFacts;

// The value of workload.heap_shift, in bytes.
std::uint64_t heap_shift_of(const Parameters& parameters);

// Why this lock can't replace a recorded one; empty if it can. `facts`: those of section_facts(), called only where they
// matter.
std::string why_no_substitute(const trace::Lock& recorded, const LockEntry& substitute,
                              const std::function<const SectionFacts&()>& facts);

// The algorithm for a lock that is replayed as recorded: the nearest of ours if the recorded one is not, and `mutex` for an
// unknown one.
std::string recorded_algorithm(const trace::Lock& lock);

}  // namespace linebounce::workloads
