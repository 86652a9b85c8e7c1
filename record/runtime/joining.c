#include "joining.h"

#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "real.h"
#include "work.h"

static pthread_key_t end_key;

static struct Ring* take_ring(void) {
  for (unsigned i = 0; i < kChannelRings; ++i) {
    struct Ring* ring = channel_ring(channel, i);
    uint32_t expected = kRingFree;
    if (!__atomic_compare_exchange_n(&ring->state, &expected, kRingInUse, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) continue;
    ring->limit = ring->taken + ring_mask + 1;
    return ring;
  }
  return NULL;
}

// Makes the ring's memory present. Otherwise page faults at its first use would count as the program's computation.
static void touch_ring(struct Ring* ring) {
  enum { kPopulateWrite = 23, kPage = 4096 };  // MADV_POPULATE_WRITE, from Linux 5.14 on
  const uintptr_t begin = (uintptr_t)ring & ~(uintptr_t)(kPage - 1), end = (uintptr_t)(ring->words + ring_mask + 1);
  if (channel->measures_time) REAL(syscall)(SYS_madvise, begin, end - begin, kPopulateWrite);
}

uint32_t new_thread_number(void) {
  return recording ? __atomic_fetch_add(&channel->threads, 1, __ATOMIC_RELAXED) : NO_NUMBER;
}

// A thread's frames, and behind them its ways.
enum { kPagesBytes = kFrames * sizeof(struct Frame) + kWays * sizeof(uint32_t) };

static void* pages(size_t bytes) {
  void* got = (void*)REAL(syscall)(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return got == MAP_FAILED ? NULL : got;
}

static void stack_of_this_thread(uint64_t bounds[2]) {
  pthread_attr_t attributes;
  void* lowest = NULL;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &lowest, &bytes);
    pthread_attr_destroy(&attributes);
  }
  bounds[0] = (uintptr_t)lowest;
  bounds[1] = (uintptr_t)lowest + bytes;
}

// Nothing that this function calls is recorded, because the thread has no ring yet.
static void join_recording(uint32_t number, uintptr_t runs) {
  this_thread.has_joined = true;
  uint64_t more[3] = {0, 0, runs};
  const bool was_apart = this_thread.apart;
  this_thread.apart = true;
  stack_of_this_thread(more);
  this_thread.apart = was_apart;
  struct Frame* frames = pages(kPagesBytes);
  struct Ring* ring = frames == NULL ? NULL : take_ring();
  if (ring == NULL) {
    __atomic_fetch_add(&channel->without_ring, 1, __ATOMIC_RELAXED);
    return;
  }
  touch_ring(ring);
  pthread_setspecific(end_key, (void*)1);
  this_thread.number = number;
  this_thread.frames = frames;
  this_thread.passes = (uint32_t*)(frames + kFrames);
  this_thread.usage = usage_now();
  this_thread.ticks = __builtin_ia32_rdtsc();
  __atomic_signal_fence(__ATOMIC_SEQ_CST);  // an interrupting signal handler sees either no ring or all members
  this_thread.ring = ring;
  if (announce_thread != NULL) announce_thread();
  ring = this_thread.ring;  // NULL if a signal handler has given the ring up
  if (ring == NULL) return;
  write_in_order(ring, event_word(kThreadBegin, 0, number), more, 3);
  restart_work();
}

void begin_thread(uint32_t number, uintptr_t runs) {
  if (recording && number != NO_NUMBER) join_recording(number, runs);
}

// Lets a thread join at its first event. Needed for threads that our pthread_create() did not create, such as a library's.
struct Ring* ring_of_new_thread(void) {
  if (!recording || this_thread.has_joined) return NULL;
  join_recording(new_thread_number(), 0);
  return this_thread.ring;
}

void end_thread(void) {
  struct Thread thread = this_thread;
  if (thread.ring == NULL) return;
  note_work(thread.ring, 0);
  write_in_order(thread.ring, event_word(kThreadEnd, 0, thread.number), NULL, 0);
  this_thread.ring = NULL;
  REAL(syscall)(SYS_munmap, thread.frames, kPagesBytes);
  __atomic_store_n(&thread.ring->state, kRingEnded, __ATOMIC_RELEASE);
}

// Registers itself again until the last round of destructors, so that the program's own destructors of thread data are
// recorded.
static void thread_data_destroyed(void* rounds) {
  const uintptr_t round = (uintptr_t)rounds;
  if (round < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(end_key, (void*)(round + 1));
  } else {
    end_thread();
  }
}

bool prepare_joining(void) { return pthread_key_create(&end_key, thread_data_destroyed) == 0; }
