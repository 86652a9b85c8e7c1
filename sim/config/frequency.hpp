// Frequencies as people write them (666.667 MHz) and as they are (2000/3 MHz).
#pragma once

#include <optional>

#include "models/machine_spec.hpp"

namespace linebounce::sim {

// The fraction with the smallest denominator, at most 64, that lies within 1e-4 (relative) of the number; a whole number is
// itself. Nothing if there is none, or if the number is not positive.
std::optional<Frequency> to_frequency(double mhz);

}  // namespace linebounce::sim
