// Both threads take numbers from one counter, and compute with each. CURED: each takes 64 numbers at a time.
//
// cure: take numbers from next 64 at a time
#include <stdalign.h>
#include <stdatomic.h>

#include "two_threads.h"

#ifdef CURED
enum { at_a_time = 64 };
#else
enum { at_a_time = 1 };
#endif

static alignas(64) atomic_long next;
static struct {
  alignas(64) unsigned long result;
} results[2];

static void rounds(long me, long number) {
  long from = 0, left = 0;
  for (long i = 0; i < number; i++) {
    if (left == 0) {
      from = atomic_fetch_add_explicit(&next, at_a_time, memory_order_relaxed);
      left = at_a_time;
    }
    results[me].result += compute(from++, 60);
    left--;
  }
}
