// Both threads compute for 35 us between additions to counts in one line. CURED: each count has a line.
//
// cure: none
#include "two_counts.h"

static void rounds(long me, long number) {
  unsigned long x = me;
  for (long i = 0; i < number; i++) {
    x = compute(x, 12000);
    atomic_fetch_add_explicit(&counts[me].requests, 1 + (x & 1), memory_order_relaxed);
  }
}
