// Summarises repeated measurements by the median and quartiles, which a few disturbed repeats do not change.
#pragma once

#include <stdlib.h>
#include <string.h>

struct summary {
  double median, quartile1, quartile3;
  int repeats;  // 0: nothing was measured
};

static inline int compare_doubles(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// Returns the quantile `share` (0 to 1), interpolated linearly. REQUIRES: `sorted` has at least one value.
static inline double quantile(const double* sorted, int count, double share) {
  const double place = share * (count - 1);
  const int below = (int)place;
  if (below + 1 >= count) return sorted[count - 1];
  return sorted[below] + (place - below) * (sorted[below + 1] - sorted[below]);
}

// Sorts `values`.
static inline struct summary summarise(double* values, int count) {
  if (count == 0) return (struct summary){0, 0, 0, 0};
  qsort(values, (size_t)count, sizeof *values, compare_doubles);
  return (struct summary){quantile(values, count, 0.5), quantile(values, count, 0.25), quantile(values, count, 0.75), count};
}

// The interquartile range divided by the median.
static inline double spread(const struct summary* values) {
  return values->median > 0 ? (values->quartile3 - values->quartile1) / values->median : 0;
}

// The generator xorshift64*, which gives the same numbers in every run.
static inline unsigned long long next_random(unsigned long long* state) {
  unsigned long long x = *state;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  *state = x;
  return x * 2685821657736338717ULL;
}

static inline size_t random_below(unsigned long long* state, size_t limit) {
  return (size_t)((next_random(state) >> 11) % limit);
}
