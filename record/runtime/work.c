#include "work.h"

// A thread that is taken off its processor is away for longer than this. In ticks: about 20 us.
enum { kTicksAway = 50000 };
// What an event itself takes, in ticks.
enum { kTicksOfEvent = 40 };

// Reads the thread's usage, and returns what it was when it was read last.
static struct Usage renew_usage(void) {
  const struct Usage before = this_thread.usage;
  this_thread.usage = usage_now();
  return before;
}

void write_work(struct Ring* ring, uint64_t ticks) {
  bool gave_up = false;
  uint64_t away = 0, at;
  if (ticks >= kTicksAway) {
    const struct Usage before = renew_usage();
    gave_up = this_thread.usage.given_up != before.given_up;
    away = time_away(before, this_thread.usage);
  }
  if (reserve_words(ring, 2, &at)) fill_event(ring, at, event_word(kWorked, gave_up, ticks - kTicksOfEvent), &away, 1);
  this_thread.ticks = __builtin_ia32_rdtsc();
}

void restart_work(void) {
  if (!measures_time) return;
  const uint64_t now = __builtin_ia32_rdtsc();
  if ((int64_t)(now - this_thread.ticks) >= kTicksAway) renew_usage();
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
  if ((int64_t)ticks < kTicksOfWork) return;
  if (ticks >= kTicksAway) {
    const struct Usage before = renew_usage();
    ticks = ticks_not_lost(ticks, before, this_thread.usage);
  }
  uint64_t at;
  if (reserve_words(ring, 1, &at)) fill_word(ring, at, event_word(kBlocked, 0, ticks));
  this_thread.ticks = __builtin_ia32_rdtsc();
}
