// Random changes of a machine that make corner cases common: caches of a few lines, latencies that reverse usual orders,
// single buffers. Protocols are not changed.
#pragma once

#include "sim/tester/random_case.hpp"

namespace linebounce::sim {

// The random case of a round. The same machine, seed and round always give the same case. Changes that the machine's own
// checks refuse are left out. `references`: approximate number of memory references in the case.
RandomCase random_case(const RandomBase& base, std::uint64_t seed, std::int64_t round, std::int64_t references);

}  // namespace linebounce::sim
