// Workload `replay`: a trace's operations, on any machine and with any locks.
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

// workload.heap_shift, in bytes.
std::uint64_t heap_shift_of(const Parameters& parameters);

// Why this lock can't take the place of a recorded one; empty: it can. `facts`: as section_facts() has them, asked where they
// matter.
std::string why_no_substitute(const trace::Lock& recorded, const LockEntry& substitute,
                              const std::function<const SectionFacts&()>& facts);

// What a lock is replayed as that is to be as it was recorded: what is no algorithm of ours as the nearest that is, `mutex` for
// what nobody knows.
std::string recorded_algorithm(const trace::Lock& lock);

}  // namespace linebounce::workloads
