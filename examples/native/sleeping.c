// Both threads sleep between additions to counts in one line. CURED: each count has a line.
//
// cure: none
#include "two_counts.h"

static void rounds(long me, long number) {
  for (long i = 0; i < number; i++) {
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    atomic_fetch_add_explicit(&counts[me].requests, 1, memory_order_relaxed);
  }
}
