// Both threads take a reference to a session in each round, read it and give it back. CURED: each keeps one reference.
//
// cure: session.holders
#include <stdalign.h>
#include <stdatomic.h>

#include "two_threads.h"

struct session {
  long user;
  alignas(64) atomic_int holders;
};

static alignas(64) struct session session = {.user = 7, .holders = 1};
static struct {
  alignas(64) unsigned long result;
} results[2];

static void take(struct session* it) { atomic_fetch_add_explicit(&it->holders, 1, memory_order_relaxed); }

static void give_back(struct session* it) {
  if (atomic_fetch_sub_explicit(&it->holders, 1, memory_order_acq_rel) == 1) abort();  // it would be freed here
}

static void rounds(long me, long number) {
  unsigned long x = me;
#ifdef CURED
  take(&session);
#endif
  for (long i = 0; i < number; i++) {
#ifndef CURED
    take(&session);
#endif
    x = compute(x + *(volatile long*)&session.user, 60);
#ifndef CURED
    give_back(&session);
#endif
  }
#ifdef CURED
  give_back(&session);
#endif
  results[me].result = x;
}
