// Each thread counts in an element of its own; both elements lie in one line. CURED: each has a line.
//
// cure: counts
#include <stdalign.h>
#include <stdatomic.h>

#include "two_threads.h"

struct counts {
#ifdef CURED
  alignas(64)
#endif
      atomic_long requests;
};

static alignas(64) struct counts counts[2];

static void rounds(long me, long number) {
  unsigned long x = me;
  for (long i = 0; i < number; i++) {
    x = compute(x, 60);
    atomic_fetch_add_explicit(&counts[me].requests, 1 + (x & 1), memory_order_relaxed);
  }
}
