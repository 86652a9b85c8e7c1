// Since when the calling thread has computed.
#pragma once

#include "runtime.h"

#ifdef LINEBOUNCE_FOLLOWER
// In QEMU the plugin counts instructions instead.
static inline void restart_work(void) {}
static inline bool drop_sample(void) {
  return false;
}
static inline uint64_t ticks_of_work(void) {
  return 0;
}
static inline void drop_waits_since(uint64_t began) {
  (void)began;
}
static inline void begin_sample(const volatile void* loads) {
  (void)loads;
}
#else
// A longer gap may be a time in which others had the processor: the system is asked. In ticks of the time stamp counter: about
// 5 us.
enum { kTicksAway = 13000 };

// Reads the thread's usage, and returns what it was when it was read last.
HIDDEN struct Usage renew_usage(void);
// What the thread has done since the latest event is no computation.
HIDDEN void restart_work(void);

// Around a call that computes for the program but waits for locks of the C library or the kernel, which a replay has not: if the
// thread has waited since `began`, what it has done since the latest event does not count.
static inline uint64_t ticks_of_work(void) {
  return measures_time ? __builtin_ia32_rdtsc() : 0;
}
HIDDEN void drop_long_wait(void);
static inline void drop_waits_since(uint64_t began) {
  if (measures_time && __builtin_expect(__builtin_ia32_rdtsc() - began >= kTicksAway, 0)) drop_long_wait();
}

// Computation that is too short for the clock is measured in a sample of the events. In those, the time stamp counter waits for
// all earlier instructions, and for what the program is about to load (`loads`; NULL: nothing): a miss is not computation.
HIDDEN void begin_sample(const volatile void* loads);
// Returns whether one was under way.
HIDDEN bool drop_sample(void);

// The time stamp counter after all earlier instructions.
static inline uint64_t ticks_when_done(void) {
  unsigned processor;
  return __builtin_ia32_rdtscp(&processor);
}
#endif
