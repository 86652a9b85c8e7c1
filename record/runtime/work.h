// Measures how long the program computes, and how long it waits for something outside it, between two events.
#pragma once

#include "ring.h"
#include "work_clock.h"

#ifdef LINEBOUNCE_FOLLOWER
// In QEMU the plugin counts instructions instead.
static inline void note_work(struct Ring* ring, uintptr_t place) {
  (void)ring;
  (void)place;
}
static inline void end_event(const volatile void* loads) {
  (void)loads;
}
#else
// A shorter time may be a miss on the recording host, which a replay repeats. In ticks of the time stamp counter: about 200 ns.
enum { kTicksOfWork = 512 };
#define kSpreadsPlaces UINT64_C(0x9e3779b97f4a7c15)  // of Fibonacci hashing: 2^64 over the golden ratio

HIDDEN void write_work(struct Ring* ring, uint64_t ticks, uint32_t* passes);

// Before an event of the calling thread at this place of the code: tells the collector of the computation since the latest one.
static inline void note_work(struct Ring* ring, uintptr_t place) {
  if (!measures_time) return;
  const uint64_t spread = place * kSpreadsPlaces >> kValueBits;
  uint32_t* passes = &this_thread.passes[(spread ^ this_thread.place >> 1) % kWays];
  this_thread.place = spread;
  const uint64_t now = __builtin_ia32_rdtsc();
  const int64_t ticks = (int64_t)(now - this_thread.ticks);  // below 0 if a signal handler has just written an event
  this_thread.ticks = now;
  if (__builtin_expect(ticks >= kTicksOfWork, 0)) {
    write_work(ring, (uint64_t)ticks, passes);
  } else {
    ++*passes;
  }
}

// After an event.
static inline void end_event(const volatile void* loads) {
  if (measures_time && __builtin_expect(--this_thread.until_sample <= 0, 0)) begin_sample(loads);
}

// The thread's time does not count from pause_work() to restart_work(). Around waits for other threads, which a replay repeats,
// and for the collector.
HIDDEN void pause_work(void);
// The result of a call that waits for other threads.
#define WAITING(call)                    \
  ({                                     \
    pause_work();                        \
    const __typeof__(call) got = (call); \
    restart_work();                      \
    got;                                 \
  })
// Likewise, of a call that may wake other threads, after the event that says so. A replay has the cost of waking.
#define WAKING(call)                     \
  ({                                     \
    const __typeof__(call) got = (call); \
    restart_work();                      \
    got;                                 \
  })
// Instead of restart_work(): the thread may have waited for something outside the program.
HIDDEN void restart_blocked_work(void);
#endif
