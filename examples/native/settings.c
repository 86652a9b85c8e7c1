// One thread reads settings, and the other increments a count in the same line. CURED: the count has its own line.
//
// cure: served
#include <stdalign.h>
#include <stdatomic.h>

#include "two_threads.h"

static struct settings {
  atomic_long limit, step, mask;
#ifdef CURED
  alignas(64)
#endif
      atomic_long served;
} settings = {.limit = 100, .step = 3, .mask = 255};

static struct {
  alignas(64) unsigned long result;
} results[2];

static void rounds(long me, long number) {
  unsigned long x = me;
  for (long i = 0; i < number; i++) {
    x = compute(x, 60);
    if (me == 0) {
      const long limit = atomic_load_explicit(&settings.limit, memory_order_relaxed);
      const long step = atomic_load_explicit(&settings.step, memory_order_relaxed);
      x = (x & atomic_load_explicit(&settings.mask, memory_order_relaxed)) % limit + step;
    } else {
      atomic_fetch_add_explicit(&settings.served, 1, memory_order_relaxed);
    }
  }
  results[me].result = x;
}
