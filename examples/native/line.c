// Two threads hand one line to each other, twice a round: how far apart the processors are at this moment. A virtual machine's
// processors may move.
#include <stdalign.h>
#include <stdatomic.h>

#include "two_threads.h"

static alignas(64) atomic_long turn;

static void rounds(long me, long number) {
  for (long i = 0; i < number; i++) {
    while (atomic_load_explicit(&turn, memory_order_acquire) != 2 * i + me) continue;
    atomic_store_explicit(&turn, 2 * i + me + 1, memory_order_release);
  }
}
