// State that all parts of the runtime share. QEMU's plugin has its own copy in follower.c.
#include "runtime.h"

struct Channel* channel;
uint64_t ring_mask;
bool recording;
__thread struct Thread this_thread;
