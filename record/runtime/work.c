#include "work.h"

// What an event itself takes, in ticks.
enum { kTicksOfEvent = 40 };

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
