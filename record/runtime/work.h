// Measures how long the program computes, and how long it waits for something outside it, between two events.
#pragma once

#include "ring.h"
#include "work_clock.h"

#ifdef LINEBOUNCE_FOLLOWER
// In QEMU the plugin counts instructions instead.
static inline void note_work(struct Ring* ring) { (void)ring; }
#else
// A shorter time is not told from that of an event itself, or of a miss on the recording host, which a replay repeats. In ticks of
// the time stamp counter: about 200 ns.
enum { kTicksOfWork = 512 };

HIDDEN void write_work(struct Ring* ring, uint64_t ticks);

// Before an event of the calling thread: tells the collector of the computation since the latest one.
static inline void note_work(struct Ring* ring) {
  if (!measures_time) return;
  const uint64_t now = __builtin_ia32_rdtsc();
  const int64_t ticks = (int64_t)(now - this_thread.ticks);  // below 0 if a signal handler has just written an event
  this_thread.ticks = now;
  if (__builtin_expect(ticks >= kTicksOfWork, 0)) write_work(ring, (uint64_t)ticks);
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
// Instead of restart_work(): the thread may have waited for something outside the program.
HIDDEN void restart_blocked_work(void);
#endif
