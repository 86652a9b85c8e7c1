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

void restart_work(void) {
  if (!measures_time) return;
  if ((int64_t)(__builtin_ia32_rdtsc() - this_thread.ticks) >= kTicksAway) renew_usage();
  this_thread.ticks = __builtin_ia32_rdtsc();
}
