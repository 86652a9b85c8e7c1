// Conversions between ticks and SystemC's time. One unit of SystemC's time is one tick.
#pragma once

#include <systemc>

#include "models/units.hpp"

namespace linebounce {

inline Tick kernel_now() {
  return static_cast<Tick>(sc_core::sc_time_stamp().value());
}

// Converts a duration to SystemC's time, for event notifications. REQUIRES: ticks >= 0.
inline sc_core::sc_time kernel_time(Tick ticks) {
  return sc_core::sc_time::from_value(static_cast<sc_dt::uint64>(ticks));
}

}  // namespace linebounce
