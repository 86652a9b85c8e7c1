// Two counts lie in one line, but the second thread only counts at its end. CURED: each count has a line.
//
// cure: none
#include "two_counts.h"

static void rounds(long me, long number) {
  unsigned long x = me;
  long counted = 0;
  for (long i = 0; i < number; i++) {
    x = compute(x, 60);
    if (me == 0)
      atomic_fetch_add_explicit(&counts[me].requests, 1 + (x & 1), memory_order_relaxed);
    else
      counted += 1 + (x & 1);
  }
  if (me == 1) atomic_fetch_add_explicit(&counts[me].requests, counted, memory_order_relaxed);
}
