// The state that all parts of the runtime share. In QEMU's plugin this state is in follower.c.
#include "runtime.h"

struct Channel* channel;
uint64_t ring_mask;
bool recording;
__thread struct Thread this_thread;
