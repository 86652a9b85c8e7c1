// Natural logarithm and its inverse, with the same last digit under every mathematical library, because they use only IEEE
// 754's operations.
#pragma once

namespace linebounce::sim {

// REQUIRES: value > 0 and finite. Relative error below 1e-15, absolute near 1; exactly 0 for 1.
double natural_logarithm(double value);

// e^logarithm - 1. REQUIRES: |logarithm| < 700. Error below 1e-12 of e^logarithm, or the last digit of 1; exactly 0 for 0.
double exponential_less_one(double logarithm);

}  // namespace linebounce::sim
