// Converts between ticks and SystemC's time. SystemC's unit, sc_get_time_resolution(), should be at most a tick; with a longer
// unit, several ticks share one SystemC time.
#pragma once

#include <cmath>
#include <systemc>

#include "models/timebase.hpp"

namespace linebounce::sim {

class Clock {
 public:
  explicit Clock(const Timebase& timebase)
      : ticks_(timebase.ticks_per_us_numerator()),
        units_(std::llround(1e-6 / sc_core::sc_get_time_resolution().to_seconds()) * timebase.ticks_per_us_denominator()) {}

  // The earliest SystemC time at or after the tick.
  [[nodiscard]] sc_core::sc_time time(Tick tick) const {
    return sc_core::sc_time::from_value(static_cast<sc_dt::uint64>((Wide{tick} * units_ + ticks_ - 1) / ticks_));
  }
  // The first tick that does not lie before `time`. REQUIRES: time > 0.
  [[nodiscard]] Tick first_tick(const sc_core::sc_time& time) const {
    return static_cast<Tick>((Wide{time.value()} - 1) * ticks_ / units_) + 1;
  }
  // The tick nearest to a point in time, or the nearest number of ticks for a duration. nearest_tick(time(t)) is t.
  [[nodiscard]] Tick nearest_tick(const sc_core::sc_time& time) const {
    return static_cast<Tick>((Wide{time.value()} * ticks_ * 2 + units_) / (units_ * 2));
  }

 private:
  __extension__ using Wide = __int128;

  std::int64_t ticks_;  // ticks_ / units_ is the number of ticks in one SystemC unit
  std::int64_t units_;
};

}  // namespace linebounce::sim
