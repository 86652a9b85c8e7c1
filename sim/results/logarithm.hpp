// Natural logarithm and its inverse. They use only IEEE 754 basic operations, so the last digit is the same with every
// mathematical library.
#pragma once

namespace linebounce::sim {

// REQUIRES: value > 0 and finite. The relative error is below 1e-15; for values near 1, whose
// logarithm is near 0, the absolute error is below that. The logarithm of 1 is exactly 0.
double natural_logarithm(double value);

// e^logarithm - 1. REQUIRES: |logarithm| < 700. The error is below 1e-12 of e^logarithm, at least the last digit of 1. Exactly
// 0 for 0.
double exponential_less_one(double logarithm);

}  // namespace linebounce::sim
