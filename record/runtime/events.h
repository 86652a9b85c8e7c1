// Writes the calling thread's events into its ring. Does nothing if the thread is not recorded.
#pragma once

#include "joining.h"
#include "work.h"

// `loads`: what the program is about to load; NULL: nothing.
static inline void record_load(unsigned kind, unsigned detail, uint64_t value, const volatile void* loads) {
  struct Ring* ring = this_ring();
  if (ring == NULL) return;
  note_work(ring, RETURN_ADDRESS);
  uint64_t at;
  if (reserve_words(ring, 1, &at)) fill_word(ring, at, event_word(kind, detail, value));
  end_event(loads);
}

static inline void record(unsigned kind, unsigned detail, uint64_t value) {
  record_load(kind, detail, value, NULL);
}

HIDDEN void record_with(unsigned kind, unsigned detail, uint64_t value, const uint64_t* more, unsigned count);
// Writes a stamp: later events of this thread come after all events that precede an earlier stamp, in any thread.
HIDDEN void record_order(void);
// Likewise, of an access that has just been recorded: the two are one event.
HIDDEN void record_order_of_access(void);
HIDDEN void record_in_order(unsigned kind, unsigned detail, uint64_t value);
HIDDEN void record_in_order_with(unsigned kind, unsigned detail, uint64_t value, const uint64_t* more, unsigned count);

static inline void record_address(unsigned kind, unsigned detail, const volatile void* address) {
  record(kind, detail, (uintptr_t)address);
}

// Whether the word may be an address of code, heap, stack or a mapping. Rejects small numbers, times in nanoseconds and
// floating-point numbers.
HIDDEN bool is_address(uint64_t word);
// kPointerAccess if one of the `count` words at the address looks like an address, else 0. Always 0 for a thread that has never
// been one of several holders of a lock.
static inline unsigned pointer_flag(const volatile void* address, unsigned count) {
  if (__builtin_expect(!this_thread.shares_locks, 1)) return 0;
  for (unsigned i = 0; i < count; ++i) {
    if (is_address(((const volatile uint64_t*)address)[i])) return kPointerAccess;
  }
  return 0;
}

HIDDEN void record_range(unsigned kind, const volatile void* address, size_t bytes);
