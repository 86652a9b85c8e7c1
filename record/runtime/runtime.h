// Definitions for all parts of the runtime, which runs inside the recorded program: no allocation, no locks that the program
// could wait for, no call of an interposed function (real.h has the C library's own).
//
// A part includes the headers of the parts that it calls; none calls back. The order is: runtime, ring, joining, events, then
// the parts that replace functions or are called by compiled code; start begins everything.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "channel.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORTED __attribute__((visibility("default")))
// The program may bring its own definition.
#define REPLACEABLE __attribute__((visibility("default"), weak))
#define THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))
#define RETURN_ADDRESS ((uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))

// One frame of the program's instrumented functions.
struct Frame {
  uintptr_t called_from;
  uintptr_t stack;
};
enum { kFrames = 4096 };

// A thread's part of the runtime. Frames deeper than kFrames are counted but not stored.
struct Thread {
  struct Ring* ring;  // NULL: not recorded, or not yet
  uint32_t depth;
  uint32_t number;
  bool has_joined;  // it has joined the recording or tried to, and does not join again
  bool silent;      // inside a function whose parts are no events of their own
  bool apart;       // inside the runtime's own calls of the C library, whose allocations are not on the program's heap
  bool creates_thread;
  bool shares_locks;  // it has held a lock together with others, so its loads may read pointers that it follows
  struct Frame* frames;
  struct Region* region;  // the OpenMP region that the thread is in; NULL: none
};
#ifdef LINEBOUNCE_FOLLOWER
// The plugin that follows a thread's instructions from outside (record/binary) writes into the same ring.
extern HIDDEN __thread struct Thread* followed_thread __attribute__((tls_model("initial-exec")));
#define this_thread (*followed_thread)
#else
extern HIDDEN __thread struct Thread this_thread __attribute__((tls_model("initial-exec")));
#endif

extern HIDDEN struct Channel* channel;
extern HIDDEN uint64_t ring_mask;
extern HIDDEN bool recording;

// Defined only in the preloaded library (record/binary). Tells the plugin that this thread now has a ring.
HIDDEN void announce_thread(void) __attribute__((weak));
// Brackets a part of the program that the runtime calls, which is no part of the runtime's function; `kept` is the same for
// both.
HIDDEN void announce_callback(uint64_t* kept, bool begins) __attribute__((weak));
