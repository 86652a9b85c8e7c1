// The runtime as a library that is preloaded into an unmodified program: what it stands in for is recorded as in a program that
// was compiled for it. What the program's own instructions do is told by plugin.c.
#include "announce.h"
#include "runtime.h"

// Not by the C library's function, from which the thread would come back as one that is recorded.
static void announce(long what, const void* first, uintptr_t second) {
  __asm__ volatile("syscall" : "+a"(what) : "D"(first), "S"(second) : "rcx", "r11", "memory");
}

void announce_thread(void) {
  announce(ANNOUNCE_THREAD, &this_thread, (uintptr_t)channel);
}

void announce_callback(uint64_t* kept, bool begins) {
  announce(ANNOUNCE_CALLBACK, kept, begins);
}
