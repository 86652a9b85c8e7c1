// Natural logarithm and its reverse, of the same last digit with every mathematical library: nothing but IEEE 754's own
// operations.
#pragma once

namespace linebounce::sim {

// REQUIRES: value > 0 and finite. Relative error below 1e-15, absolute near 1; 0 of 1.
double natural_logarithm(double value);

// e^logarithm - 1. REQUIRES: |logarithm| < 700. Error below 1e-12 of e^logarithm, or a last digit of 1; 0 of 0.
double exponential_less_one(double logarithm);

}  // namespace linebounce::sim
