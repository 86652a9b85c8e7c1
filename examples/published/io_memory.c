// A server's allocator counts bytes for each thread. Three I/O threads allocate and free; the main thread sums all counts after
// each command.
//
// The case: used_memory_thread of valkey, an array that begins at a line but packs several counts into each. CURED: each has
// its own line, so summing reads more lines.
//
// published: +9.8 % valkey-io/valkey pull request 4107: GET on two threads a core; +3.0 % on one
// expect: layout used
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef CURED
#define OWN_LINE alignas(64)
#else
#define OWN_LINE
#endif

enum { io_threads = 3, replies_each = 3000, commands = 1500 };

struct used {
  OWN_LINE atomic_long bytes;
};

static alignas(64) struct used used[io_threads + 1];
static alignas(64) char buffers[io_threads + 1][1024];

static __attribute__((noinline)) void add(int thread, long bytes) {
  const long now = atomic_load_explicit(&used[thread].bytes, memory_order_relaxed);
  atomic_store_explicit(&used[thread].bytes, now + bytes, memory_order_relaxed);
}

static void* write_replies(void* number) {
  const int me = (int)(long)number;
  for (int i = 0; i < replies_each; i++) {
    add(me, 256);
    for (int k = 0; k < 256; k += 8) *(volatile long*)&buffers[me][k] = i;
    add(me, -256);
  }
  return NULL;
}

static long peak;

static void* run_commands(void* unused) {
  (void)unused;
  for (int i = 0; i < commands; i++) {
    add(0, 64);
    for (int k = 0; k < 512; k += 8) *(volatile long*)&buffers[0][k] = i;
    long all = 0;
    for (int k = 0; k <= io_threads; k++) all += atomic_load_explicit(&used[k].bytes, memory_order_relaxed);
    if (all > peak) peak = all;
    add(0, -64);
  }
  return NULL;
}

int main(void) {
  pthread_t thread[io_threads + 1];
  pthread_create(&thread[0], NULL, run_commands, NULL);
  for (long i = 1; i <= io_threads; i++) pthread_create(&thread[i], NULL, write_replies, (void*)i);
  for (int i = 0; i <= io_threads; i++) pthread_join(thread[i], NULL);
  printf("peak %ld bytes\n", peak);
  return peak >= 64 ? 0 : 1;
}
