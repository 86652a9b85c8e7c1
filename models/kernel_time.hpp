// SystemC's time in ticks: one of its units is one tick.
#pragma once

#include <systemc>

#include "models/units.hpp"

namespace linebounce {

inline Tick kernel_now() {
  return static_cast<Tick>(sc_core::sc_time_stamp().value());
}

// A delay for notifications. REQUIRES: ticks >= 0.
inline sc_core::sc_time kernel_time(Tick ticks) {
  return sc_core::sc_time::from_value(static_cast<sc_dt::uint64>(ticks));
}

}  // namespace linebounce
