// Words of a ring: reserving, filling, waiting.
#pragma once

#include "runtime.h"

// Without a collector nobody empties the rings, and the program continues unrecorded.
HIDDEN bool collector_is_gone(void);

// Returns when the words before `end` may be filled; false if they never may, and the thread is not recorded from now on.
HIDDEN bool wait_for_room(struct Ring* ring, uint64_t end);

// Reserves `count` words for an event, by one instruction, so that a signal handler finds the ring in order. Returns false if
// the event is not to be written.
static inline bool reserve_words(struct Ring* ring, uint64_t count, uint64_t* first) {
  *first = count;
  __asm__("xaddq %0, %1" : "+r"(*first), "+m"(ring->next));
  return __builtin_expect(*first + count <= ring->limit, 1) || wait_for_room(ring, *first + count);
}

static inline void fill_word(struct Ring* ring, uint64_t at, uint64_t word) {
  __atomic_store_n(&ring->words[at & ring_mask], word, __ATOMIC_RELEASE);
}

// Fills an event of several words, the first word last. REQUIRES: the words from `at` on are reserved.
HIDDEN void fill_event(struct Ring* ring, uint64_t at, uint64_t first, const uint64_t* more, unsigned count);
// Writes an event after everything that has a stamp already.
HIDDEN void write_in_order(struct Ring* ring, uint64_t first, const uint64_t* more, unsigned count);
HIDDEN void write_stamp(struct Ring* ring);
