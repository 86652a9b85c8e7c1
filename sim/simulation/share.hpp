#pragma once

namespace linebounce::sim {

// In percent; 0 of nothing.
inline double share_pct(double part, double whole) {
  return whole > 0 ? 100.0 * part / whole : 0.0;
}

}  // namespace linebounce::sim
