// A thread looks at a flag in each round, the other sets a count beside it once in 1000. CURED: the count has a line.
//
// cure: none
#include <stdalign.h>
#include <stdatomic.h>

#include "two_threads.h"

static struct state {
  alignas(64) atomic_int stopped;
#ifdef CURED
  alignas(64)
#endif
      atomic_long batches;
} state;

static struct {
  alignas(64) unsigned long result;
} results[2];

static void rounds(long me, long number) {
  unsigned long x = me;
  for (long i = 0; i < number; i++) {
    x = compute(x, 60);
    if (me == 0 && atomic_load_explicit(&state.stopped, memory_order_relaxed)) break;
    if (me == 1 && i % 1000 == 0) atomic_fetch_add_explicit(&state.batches, 1, memory_order_relaxed);
  }
  results[me].result = x;
}
