// Reserves and fills words of a ring, and waits for room in it.
#pragma once

#include "runtime.h"

// True if the collector has ended. Nobody empties the rings then, so the program continues unrecorded.
HIDDEN bool collector_is_gone(void);

// Waits until the words before position `end` may be filled. Returns false if that can't happen; the thread is then no longer
// recorded.
HIDDEN bool wait_for_room(struct Ring* ring, uint64_t end);

// Reserves `count` words for an event, in one instruction, so that an interrupting signal handler finds a consistent ring.
// Returns false if the event must not be written.
static inline bool reserve_words(struct Ring* ring, uint64_t count, uint64_t* first) {
  *first = count;
  __asm__("xaddq %0, %1" : "+r"(*first), "+m"(ring->next));
  return __builtin_expect(*first + count <= ring->limit, 1) || wait_for_room(ring, *first + count);
}

static inline void fill_word(struct Ring* ring, uint64_t at, uint64_t word) {
  __atomic_store_n(&ring->words[at & ring_mask], word, __ATOMIC_RELEASE);
}

// Fills the words of an event, the first one last. REQUIRES: the words from `at` on are reserved.
HIDDEN void fill_event(struct Ring* ring, uint64_t at, uint64_t first, const uint64_t* more, unsigned count);
// Writes a stamp, then the event: it comes after all events that precede an earlier stamp.
HIDDEN void write_in_order(struct Ring* ring, uint64_t first, const uint64_t* more, unsigned count);
HIDDEN void write_stamp(struct Ring* ring);
