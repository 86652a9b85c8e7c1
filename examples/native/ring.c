// A thread hands numbers to the other through a ring, whose two indices lie in one line. CURED: each index has a line.
//
// cure: ring
#include <stdalign.h>
#include <stdatomic.h>

#include "two_threads.h"

enum { places = 256 };

static struct ring {
  alignas(64) atomic_long head;  // changed by the reader
#ifdef CURED
  alignas(64)
#endif
      atomic_long tail;  // changed by the writer
  alignas(64) long number[places];
} ring;

static struct {
  alignas(64) unsigned long result;
} results[2];

static void rounds(long me, long number) {
  unsigned long x = me;
  for (long i = 0; i < number; i++) {
    x = compute(x, 60);
    if (me == 0) {
      while (i - atomic_load_explicit(&ring.head, memory_order_acquire) == places) continue;
      ring.number[i % places] = x;
      atomic_store_explicit(&ring.tail, i + 1, memory_order_release);
    } else {
      while (atomic_load_explicit(&ring.tail, memory_order_acquire) == i) continue;
      x += ring.number[i % places];
      atomic_store_explicit(&ring.head, i + 1, memory_order_release);
    }
  }
  results[me].result = x;
}
