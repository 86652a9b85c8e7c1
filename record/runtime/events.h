// Events of this thread, in its ring. Of a thread that is not recorded nothing is written.
#pragma once

#include "joining.h"

static inline void record(unsigned kind, unsigned detail, uint64_t value) {
  struct Ring* ring = this_ring();
  uint64_t at;
  if (ring != NULL && reserve_words(ring, 1, &at)) fill_word(ring, at, event_word(kind, detail, value));
}

HIDDEN void record_with(unsigned kind, unsigned detail, uint64_t value, const uint64_t* more, unsigned count);
// Behind everything that has a stamp already.
HIDDEN void record_order(void);
HIDDEN void record_in_order(unsigned kind, unsigned detail, uint64_t value);
HIDDEN void record_in_order_with(unsigned kind, unsigned detail, uint64_t value, const uint64_t* more, unsigned count);

static inline void record_address(unsigned kind, unsigned detail, const volatile void* address) {
  record(kind, detail, (uintptr_t)address);
}
HIDDEN void record_range(unsigned kind, const volatile void* address, size_t bytes);
