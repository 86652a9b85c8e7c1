// How a thread uses the processor, by the system's clocks.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

struct Usage {
  uint64_t now;       // nanoseconds of CLOCK_MONOTONIC
  uint64_t running;   // nanoseconds of processor time
  uint64_t given_up;  // how often it gave the processor up to wait
  uint64_t faults;    // page faults
};

static inline uint64_t nanoseconds_of(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

static inline struct Usage usage_now(void) {
  struct rusage of_thread;
  getrusage(RUSAGE_THREAD, &of_thread);
  return (struct Usage){nanoseconds_of(CLOCK_MONOTONIC), nanoseconds_of(CLOCK_THREAD_CPUTIME_ID), (uint64_t)of_thread.ru_nvcsw,
                        (uint64_t)(of_thread.ru_minflt + of_thread.ru_majflt)};
}

// The nanoseconds between two usages in which the thread did not run. Differences between the clocks that say nothing are 0.
static inline uint64_t time_away(struct Usage from, struct Usage to) {
  enum { kLeastAway = 2000 };
  const uint64_t passed = to.now - from.now, running = to.running - from.running;
  return passed > running + kLeastAway ? passed - running : 0;
}

// Of `ticks` that passed between two usages, those in which the thread ran.
static inline uint64_t ticks_running(uint64_t ticks, struct Usage from, struct Usage to) {
  const uint64_t passed = to.now - from.now, away = time_away(from, to);
  if (passed == 0) return ticks;
  return ticks - (uint64_t)((double)ticks * (double)(away < passed ? away : passed) / (double)passed);
}

// Likewise, those that the thread ran or waited for something. If the processor was taken from it meanwhile, that time does not
// count.
static inline uint64_t ticks_not_lost(uint64_t ticks, struct Usage from, struct Usage to) {
  return to.given_up != from.given_up ? ticks : ticks_running(ticks, from, to);
}
