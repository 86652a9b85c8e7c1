#include "work.h"

// What an event itself takes, in ticks.
enum { kTicksOfEvent = 40 };

// What a page fault takes: from half a microsecond to five, in a virtual machine.
enum { kTicksOfFault = 1200, kTicksOfFaultAtMost = 13000 };

// Whether a gap is an interrupt, or cold caches, because the program mostly passes this way through its code without any. Each
// such gap halves the count, so that a way which takes long from now on is believed after a few.
static bool is_seldom(uint64_t ticks, uint32_t* passes) {
  enum { kManyPasses = 64, kManyWhileCold = 4, kLongestDisturbance = 250000 };  // ticks: about 100 us
  const bool cold = this_thread.is_cold && ticks < kTicksAway;
  const bool seldom = ticks < kLongestDisturbance && *passes >= (cold ? kManyWhileCold : kManyPasses);
  *passes = seldom ? *passes / 2 : 1;
  return seldom;
}

void write_work(struct Ring* ring, uint64_t ticks, uint32_t* passes) {
  unsigned flags = 0;
  uint64_t away = 0, at;
  if (this_thread.sample_began != 0) {
    ticks = ticks_when_done() - this_thread.sample_began;
    this_thread.sample_began = 0;
    if (ticks < kTicksOfWork) {
      const uint64_t way = (uint64_t)(passes - this_thread.passes);
      if (reserve_words(ring, 1, &at)) fill_word(ring, at, event_word(kSampled, 0, way << kTicksBits | ticks));
      ++*passes;
      this_thread.ticks = __builtin_ia32_rdtsc();
      return;
    }
  }
  uint64_t ran = ticks, faults = 0;
  const bool is_first_pass = *passes == 0;
  if (ticks >= kTicksAway || (is_first_pass && ticks >= kTicksOfFault)) {
    const struct Usage before = renew_usage();
    faults = this_thread.usage.faults - before.faults;
    // A page fault may wait for the lock of the memory map: the time is the host's. A new thread's first malloc() often does.
    if (this_thread.usage.given_up - before.given_up > faults) flags |= kGaveUp;
    away = time_away(before, this_thread.usage);
    ran = ticks_running(ticks, before, this_thread.usage);
  }
  if (is_seldom(ran, passes) || ran < faults * kTicksOfFaultAtMost) flags |= kOfHost;
  if (reserve_words(ring, 2, &at)) fill_event(ring, at, event_word(kWorked, flags, ticks - kTicksOfEvent), &away, 1);
  this_thread.ticks = __builtin_ia32_rdtsc();
}

void pause_work(void) {
  if (this_thread.ring != NULL) note_work(this_thread.ring, RETURN_ADDRESS);
}

// The time counts even where the thread ran, in the kernel: no machine's clock scales it. But if others have taken its
// processor from it, that time does not.
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
