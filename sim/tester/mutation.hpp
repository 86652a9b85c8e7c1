// Random changes of a machine that make corner cases common: caches of a few lines, latencies that reverse orders, one buffer
// of each kind. The protocols stay.
#pragma once

#include "sim/tester/random_case.hpp"

namespace linebounce::sim {

// The case of a round: the same for the same machine, seed and round. Changes that the machine's own checks refuse are left
// out. `references`: about the total number.
RandomCase random_case(const RandomBase& base, std::uint64_t seed, std::int64_t round, std::int64_t references);

}  // namespace linebounce::sim
