// Threads join the recording and leave it.
#pragma once

#include "ring.h"

// Must return true before any thread joins.
HIDDEN bool prepare_joining(void);
// Called in a new thread, before and after its function.
HIDDEN uint32_t new_thread_number(void);
HIDDEN void begin_thread(uint32_t number, uintptr_t runs);
HIDDEN void end_thread(void);
// The thread's ring if it is recorded after all, because it has done something; else NULL.
HIDDEN struct Ring* ring_of_new_thread(void);

static inline struct Ring* this_ring(void) {
  struct Ring* ring = this_thread.ring;
  return __builtin_expect(ring != NULL, 1) ? ring : ring_of_new_thread();
}
