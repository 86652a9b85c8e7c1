// Two threads count in neighbouring elements, which share a line. CURED: each element has its own.
//
// cure: counts
#include "two_counts.h"

static void rounds(long me, long number) {
  unsigned long x = me;
  for (long i = 0; i < number; i++) {
    x = compute(x, 60);
    atomic_fetch_add_explicit(&counts[me].requests, 1 + (x & 1), memory_order_relaxed);
  }
}
