#pragma once

namespace linebounce::sim {

// `part` as a percentage of `whole`; 0 if `whole` is 0.
template <typename Amount>
double share_pct(Amount part, Amount whole) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

}  // namespace linebounce::sim
