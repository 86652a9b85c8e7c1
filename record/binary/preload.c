// The runtime as a library that is preloaded into an unmodified program. It records the functions that it replaces, as in a
// program that was compiled for recording. plugin.c records the program's own instructions.
#include "announce.h"
#include "runtime.h"

// Makes the system call directly. With the C library's syscall(), the plugin would see a call and return that are not the
// program's.
static void announce(long what, const void* first, uintptr_t second) {
  __asm__ volatile("syscall" : "+a"(what) : "D"(first), "S"(second) : "rcx", "r11", "memory");
}

static void announce_this_thread(void) {
  announce(ANNOUNCE_THREAD, &this_thread, (uintptr_t)channel);
}

static void announce_this_callback(uint64_t* kept, bool begins) {
  announce(ANNOUNCE_CALLBACK, kept, begins);
}

void (*const announce_thread)(void) = announce_this_thread;
void (*const announce_callback)(uint64_t* kept, bool begins) = announce_this_callback;
