// Threads join the recording and leave it.
#pragma once

#include "ring.h"

// Returns false on failure. REQUIRES: called before any thread joins.
HIDDEN bool prepare_joining(void);
// Called in a new thread: begin_thread() before the thread's function, end_thread() after it. A thread that was created before
// the recording began has no number yet; it joins at its first event.
#define NO_NUMBER UINT32_MAX
HIDDEN uint32_t new_thread_number(void);
HIDDEN void begin_thread(uint32_t number, uintptr_t runs);
HIDDEN void end_thread(void);
// Lets a thread that is not recorded yet join at its first event. Returns its ring, or NULL if it can't be recorded.
HIDDEN struct Ring* ring_of_new_thread(void);

static inline struct Ring* this_ring(void) {
  struct Ring* ring = this_thread.ring;
  return __builtin_expect(ring != NULL, 1) ? ring : ring_of_new_thread();
}
