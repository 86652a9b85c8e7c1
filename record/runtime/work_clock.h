// Since when the calling thread has computed.
#pragma once

#include "runtime.h"

#ifdef LINEBOUNCE_FOLLOWER
// In QEMU the plugin counts instructions instead.
static inline void restart_work(void) {}
#else
// A longer gap may be a time in which others had the processor: the system is asked. In ticks of the time stamp counter: about 5 us.
enum { kTicksAway = 13000 };

// Reads the thread's usage, and returns what it was when it was read last.
HIDDEN struct Usage renew_usage(void);
// What the thread has done since the latest event is no computation.
HIDDEN void restart_work(void);
#endif
