// Definitions for all parts of the runtime, which runs inside the recorded program. It must not allocate from the program's
// heap, take locks that the program could wait for, or call a replaced function (real.h has the C library's own).
//
// A part may include only the headers of earlier parts: runtime, ring, joining, events. Then come the parts that replace
// functions or that compiled code calls, and start, which starts all others.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "channel.h"
#include "usage.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORTED __attribute__((visibility("default")))
// Weak, because the program may define the function itself.
#define REPLACEABLE __attribute__((visibility("default"), weak))
#define THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))
#define RETURN_ADDRESS ((uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))

// A frame of an instrumented function of the program.
struct Frame {
  uintptr_t called_from;
  uintptr_t stack;
};
enum { kFrames = 4096 };

// The runtime's data of one thread. Frames deeper than kFrames are counted but not stored.
struct Thread {
  struct Ring* ring;  // NULL: not recorded, or not yet
  uint32_t depth;
  uint32_t number;
  bool has_joined;  // it has joined the recording or failed to; it does not try again
  bool silent;      // inside a replaced function whose inner calls are not recorded
  bool apart;       // inside the runtime's own calls of the C library, which allocate apart from the program's heap
  bool creates_thread;
  bool allocates;   // inside the C library's functions for memory, whose instructions are the program's
  bool shares_locks;  // it has held a lock as one of several holders, so its loads are checked for pointers
  uint64_t ticks;         // the time stamp counter at the latest event (work.h)
  uint64_t sample_began;  // the time stamp counter where the sample under way began; 0: there is none
  int until_sample;       // events until the next one
  uint32_t random;
  bool is_cold;  // since others had its processor, it has not yet run long enough to have its data in the caches
  struct Usage usage;  // at the latest long gap between two events
  struct Frame* frames;
  uint64_t place;  // a hash of the latest event's place in the code
  // How often each way from one place to the next was passed since it last took long; 0: never. Ways that share an entry count
  // together.
  uint32_t* passes;
  struct Region* region;  // the OpenMP region that the thread is in; NULL: none
};
#ifdef LINEBOUNCE_FOLLOWER
// In QEMU's plugin (record/binary), which writes into the same rings, this is the thread that the plugin follows.
extern HIDDEN __thread struct Thread* followed_thread __attribute__((tls_model("initial-exec")));
#define this_thread (*followed_thread)
#else
extern HIDDEN __thread struct Thread this_thread __attribute__((tls_model("initial-exec")));
#endif

extern HIDDEN struct Channel* channel;
extern HIDDEN uint64_t ring_mask;
extern HIDDEN bool recording;
extern HIDDEN bool measures_time;

// The following are NULL except in the preloaded library (record/binary).
// Tells the plugin that this thread has a ring now.
extern HIDDEN void (*const announce_thread)(void);
// Marks the begin and end of a program function that the runtime calls, so that the plugin records it. `kept`: the plugin's
// storage, the same for begin and end.
extern HIDDEN void (*const announce_callback)(uint64_t* kept, bool begins);
