#include "work.h"

#include <sys/resource.h>
#include <time.h>

// A thread that is taken off its processor is away for longer than this. In ticks: about 20 us.
enum { kTicksAway = 50000 };
// What an event itself takes, in ticks.
enum { kTicksOfEvent = 64 };
// Differences between the two clocks that say nothing.
enum { kLeastAway = 2000 };  // ns

static uint64_t nanoseconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

void read_usage(struct Usage* usage) {
  struct rusage of_thread;
  getrusage(RUSAGE_THREAD, &of_thread);
  *usage = (struct Usage){nanoseconds(CLOCK_MONOTONIC), nanoseconds(CLOCK_THREAD_CPUTIME_ID), (uint64_t)of_thread.ru_nvcsw};
}

// How long the thread has not run since its usage was read last, and whether it gave the processor up itself.
static uint64_t time_away(bool* gave_up) {
  const struct Usage before = this_thread.usage;
  read_usage(&this_thread.usage);
  const uint64_t passed = this_thread.usage.now - before.now, running = this_thread.usage.running - before.running;
  *gave_up = this_thread.usage.given_up != before.given_up;
  return passed > running + kLeastAway ? passed - running : 0;
}

void write_work(struct Ring* ring, uint64_t ticks) {
  bool gave_up = false;
  const uint64_t away = ticks < kTicksAway ? 0 : time_away(&gave_up);
  uint64_t at;
  if (reserve_words(ring, 2, &at)) fill_event(ring, at, event_word(kWorked, gave_up, ticks - kTicksOfEvent), &away, 1);
  this_thread.ticks = __builtin_ia32_rdtsc();
}

void restart_work(void) {
  if (!measures_time) return;
  const uint64_t now = __builtin_ia32_rdtsc();
  if (now - this_thread.ticks >= kTicksAway) read_usage(&this_thread.usage);
  this_thread.ticks = now;
}

void pause_work(void) {
  if (this_thread.ring != NULL) note_work(this_thread.ring);
}

// The time counts even where the thread ran, in the kernel: no machine's clock scales it. But if others have taken its processor
// from it, that time does not.
void restart_blocked_work(void) {
  struct Ring* ring = this_thread.ring;
  if (ring == NULL || !measures_time) return;
  const uint64_t now = __builtin_ia32_rdtsc();
  uint64_t ticks = now - this_thread.ticks;
  this_thread.ticks = now;
  if (ticks < kTicksOfWork) return;
  if (ticks >= kTicksAway) {
    const struct Usage before = this_thread.usage;
    bool gave_up = false;
    const uint64_t away = time_away(&gave_up), passed = this_thread.usage.now - before.now;
    if (!gave_up && passed > 0) ticks -= (uint64_t)((double)ticks * (double)(away < passed ? away : passed) / (double)passed);
  }
  uint64_t at;
  if (reserve_words(ring, 1, &at)) fill_word(ring, at, event_word(kBlocked, 0, ticks));
  this_thread.ticks = __builtin_ia32_rdtsc();
}
