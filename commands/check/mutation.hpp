// Changes a machine at random so that corner cases are common: caches of a few lines, latencies that reverse the usual order,
// single buffers. Protocols stay as they are.
#pragma once

#include "commands/check/random_case.hpp"

namespace linebounce::sim {

// The case of one round, which depends only on machine, seed and round. Omits changes that the machine's own checks refuse.
// `references`: approximate number of memory references.
RandomCase random_case(const RandomBase& base, std::uint64_t seed, std::int64_t round, std::int64_t references);

}  // namespace linebounce::sim
