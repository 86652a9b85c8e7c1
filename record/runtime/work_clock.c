#include "work.h"

struct Usage renew_usage(void) {
  const struct Usage before = this_thread.usage;
  this_thread.usage = usage_now();
  // Another thread may have used the caches meanwhile: until they are warm again, any event takes longer.
  enum { kEventsToWarmUp = 128 };
  if (this_thread.until_sample < kEventsToWarmUp) this_thread.until_sample = kEventsToWarmUp;
  this_thread.is_cold = true;
  return before;
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
