// How the parts of the runtime write events. All of it runs inside the recorded program: no allocation, no locks that the
// program could wait for, no call of a function that is interposed (real.h has those of the C library).
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "channel.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORTED __attribute__((visibility("default")))
// The program may bring its own.
#define REPLACEABLE __attribute__((visibility("default"), weak))
#define THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))
#define RETURN_ADDRESS ((uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))

// One frame of the program's instrumented functions.
struct Frame {
  uintptr_t called_from;
  uintptr_t stack;
};
enum { kFrames = 4096 };

// A thread's part of the runtime. Deeper frames than kFrames are counted, not kept.
struct Thread {
  struct Ring* ring;  // NULL: not recorded, or not yet
  uint32_t depth;
  uint32_t number;
  bool has_joined;  // the recording, or tried to: it does not once more, as when it has ended
  bool silent;  // inside a function whose parts are no events of their own
  bool apart;   // inside the runtime's own calls of the C library: what they allocate is not on the program's heap
  bool creates_thread;
  struct Frame* frames;
  struct Region* region;  // of OpenMP, that it is in; NULL: it is outside of all
};
#ifdef LINEBOUNCE_FOLLOWER
// Who follows a thread's instructions from outside (record/binary) writes into the same ring.
extern HIDDEN __thread struct Thread* followed_thread __attribute__((tls_model("initial-exec")));
#define this_thread (*followed_thread)
#else
extern HIDDEN __thread struct Thread this_thread __attribute__((tls_model("initial-exec")));
#endif

extern HIDDEN struct Channel* channel;
extern HIDDEN uint64_t ring_mask;
extern HIDDEN bool recording;

// Only where somebody follows: tells them of this thread, which has its ring.
HIDDEN void announce_thread(void) __attribute__((weak));
// Of a part of the program's that the runtime calls, and so is no part of the runtime's function; `kept` is the same for both.
HIDDEN void announce_callback(uint64_t* kept, bool begins) __attribute__((weak));
// Without a collector nobody empties the rings: the program goes on unrecorded.
HIDDEN bool collector_is_gone(void);

// The thread's ring if it is recorded after all, now that it has done something; else NULL.
HIDDEN struct Ring* ring_of_new_thread(void);
// Returns when the words before `end` may be filled. False: they never may, and the thread is not recorded from now on.
HIDDEN bool wait_for_room(struct Ring* ring, uint64_t end);

static inline struct Ring* this_ring(void) {
  struct Ring* ring = this_thread.ring;
  return __builtin_expect(ring != NULL, 1) ? ring : ring_of_new_thread();
}

// The first of `count` words that are this event's. One instruction, so that a signal handler finds the ring in order.
// False: the event is not to be written.
static inline bool reserve_words(struct Ring* ring, uint64_t count, uint64_t* first) {
  *first = count;
  __asm__("xaddq %0, %1" : "+r"(*first), "+m"(ring->next));
  return __builtin_expect(*first + count <= ring->limit, 1) || wait_for_room(ring, *first + count);
}

static inline void fill_word(struct Ring* ring, uint64_t at, uint64_t word) {
  __atomic_store_n(&ring->words[at & ring_mask], word, __ATOMIC_RELEASE);
}

static inline void record(unsigned kind, unsigned detail, uint64_t value) {
  struct Ring* ring = this_ring();
  uint64_t at;
  if (ring != NULL && reserve_words(ring, 1, &at)) fill_word(ring, at, event_word(kind, detail, value));
}

// More than one word: the first is filled last.
HIDDEN void record_with(unsigned kind, unsigned detail, uint64_t value, const uint64_t* more, unsigned count);
// Behind everything that has a stamp already.
HIDDEN void record_order(void);
HIDDEN void record_in_order(unsigned kind, unsigned detail, uint64_t value);
HIDDEN void record_in_order_with(unsigned kind, unsigned detail, uint64_t value, const uint64_t* more, unsigned count);

static inline void record_address(unsigned kind, unsigned detail, const volatile void* address) {
  record(kind, detail, (uintptr_t)address);
}
HIDDEN void record_range(unsigned kind, const volatile void* address, size_t bytes);
// Returns `memory`, which `caller` has allocated; NULL: it has not. `element`: 0 if it is not known.
HIDDEN void* allocated(void* memory, size_t bytes, size_t element, uintptr_t caller);
// The same of a block whose alignment was asked for.
HIDDEN void* allocated_aligned(void* memory, size_t bytes, uintptr_t caller);

// Memory that is not on the program's heap, of zeros, aligned to 16 bytes. REQUIRES of the last two: is_apart(memory).
HIDDEN void prepare_apart(void);
HIDDEN void* allocate_apart(size_t bytes);
HIDDEN void* allocate_thread_table(size_t entries, size_t bytes);
HIDDEN bool is_apart(const void* memory);
HIDDEN void* reallocate_apart(void* memory, size_t bytes);
HIDDEN void free_apart(void* memory);

// A library has been loaded: returns when the collector has looked at it.
HIDDEN void record_library(void);
// In a new thread, before and after its function.
HIDDEN uint32_t new_thread_number(void);
HIDDEN void begin_thread(uint32_t number, uintptr_t runs);
HIDDEN void end_thread(void);
// What OpenMP's team runs that is being made; 0: none is.
HIDDEN uintptr_t function_of_region(void);
// In a child of fork: what another thread had locked is free.
HIDDEN void unlock_threads_in_child(void);
