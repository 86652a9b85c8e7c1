// Random changes of a machine that make its corners common: caches of a few lines, latencies that turn orders round, one buffer
// of each kind. The protocols stay.
#pragma once

#include "sim/tester/random_case.hpp"

namespace linebounce::sim {

// The case of a round: always the same for the same machine, seed and round. What the machine's own checks refuse is left out.
// References in all: about `references`.
RandomCase random_case(const RandomBase& base, std::uint64_t seed, std::int64_t round, std::int64_t references);

}  // namespace linebounce::sim
