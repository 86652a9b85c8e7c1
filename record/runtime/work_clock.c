#include "work_clock.h"

struct Usage renew_usage(void) {
  const struct Usage before = this_thread.usage;
  this_thread.usage = usage_now();
  // Another thread may have used the caches meanwhile: until they are warm again, any event takes longer.
  enum { kEventsToWarmUp = 128 };
  if (this_thread.until_sample < kEventsToWarmUp) this_thread.until_sample = kEventsToWarmUp;
  this_thread.is_cold = true;
  return before;
}

void begin_sample(const volatile void* loads) {
  enum { kLeastEvents = 32, kMoreEventsBits = 6 };
  // At random, or samples would see the same part of each round of a loop.
  this_thread.random = this_thread.random * 1664525 + 1013904223;
  this_thread.until_sample = kLeastEvents + (int)(this_thread.random >> (32 - kMoreEventsBits));
  this_thread.ticks = 0;  // so that the next event calls write_work()
  this_thread.is_cold = false;
  if (loads != NULL) (void)*(const volatile char*)loads;
  this_thread.sample_began = ticks_when_done();
}

bool drop_sample(void) {
  if (this_thread.sample_began == 0) return false;
  this_thread.sample_began = 0;
  this_thread.ticks = __builtin_ia32_rdtsc();
  return true;
}

void restart_work(void) {
  if (!measures_time) return;
  const bool samples = this_thread.sample_began != 0;  // then `ticks` says nothing
  const uint64_t since = samples ? this_thread.sample_began : this_thread.ticks;
  if ((int64_t)(__builtin_ia32_rdtsc() - since) >= kTicksAway) renew_usage();
  if (samples) {
    begin_sample(NULL);
  } else {
    this_thread.ticks = __builtin_ia32_rdtsc();
  }
}

void drop_long_wait(void) {
  if (this_thread.ring == NULL) return;
  const struct Usage before = renew_usage();
  if (this_thread.usage.given_up != before.given_up) {
    restart_work();
  } else {
    this_thread.usage = before;  // the next event looks whether the processor was taken from the thread
  }
}
