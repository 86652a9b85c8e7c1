// State that all parts of the runtime share. QEMU's plugin has its own copy in follower.c.
#include "runtime.h"

struct Channel* channel;
uint64_t ring_mask;
bool recording;
bool measures_time;
__thread struct Thread this_thread;

// Weak pointers, because the linker gold takes weak functions without a definition for defined ones.
__attribute__((weak)) void (*const announce_thread)(void) = NULL;
__attribute__((weak)) void (*const announce_callback)(uint64_t* kept, bool begins) = NULL;
