// Natural logarithm and its inverse. They use only operations of IEEE 754, so they give the same last digit with every
// mathematical library.
#pragma once

namespace linebounce::sim {

// REQUIRES: value > 0 and finite. The error is below 1e-15: relative to the result, near 1 absolute. Exactly 0 for 1.
double natural_logarithm(double value);

// e^logarithm - 1. REQUIRES: |logarithm| < 700. The error is below 1e-12 of e^logarithm, or within the last digit of 1.
// Exactly 0 for 0.
double exponential_less_one(double logarithm);

}  // namespace linebounce::sim
