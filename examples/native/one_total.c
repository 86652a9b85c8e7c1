// Both threads add to a total. CURED: each has its own sum, which it adds to the total at the end.
//
// cure: count total per thread
#include <stdalign.h>
#include <stdatomic.h>

#include "two_threads.h"

static alignas(64) atomic_long total;
#ifdef CURED
static struct {
  alignas(64) atomic_long sum;
} sums[2];
#endif

static void rounds(long me, long number) {
  unsigned long x = me;
  for (long i = 0; i < number; i++) {
    x = compute(x, 60);
#ifdef CURED
    atomic_fetch_add_explicit(&sums[me].sum, 1 + (x & 1), memory_order_relaxed);
  }
  atomic_fetch_add_explicit(&total, atomic_load(&sums[me].sum), memory_order_relaxed);
#else
    atomic_fetch_add_explicit(&total, 1 + (x & 1), memory_order_relaxed);
  }
#endif
}
