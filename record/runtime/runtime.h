// What all parts of the runtime know. All of it runs inside the recorded program: no allocation, no locks that the program could
// wait for, no call of a function that is interposed (real.h has those of the C library).
//
// A part includes the headers of those that it calls, and none calls back: runtime, ring, joining, events, then those that stand
// in for functions or are called by compiled code; start begins it all.
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
  bool shares_locks;  // has held a lock together with others: what it reads may be a pointer that it follows
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
