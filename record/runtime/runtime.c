// The channel, beginnings and ends of threads.
#include "runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "real.h"

struct Channel* channel;
uint64_t ring_mask;
__thread struct Thread this_thread;

bool recording;
static pthread_key_t end_key;

void record_library(void) {
  if (this_ring() == NULL) return;
  const struct timespec pause = {0, 100 * 1000};
  const uint32_t seen = __atomic_load_n(&channel->libraries_seen, __ATOMIC_ACQUIRE);
  record_in_order(kLibraryLoaded, 0, 0);
  while (__atomic_load_n(&channel->libraries_seen, __ATOMIC_ACQUIRE) == seen && !collector_is_gone()) {
    syscall(SYS_nanosleep, &pause, NULL);
  }
}

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

uint32_t new_thread_number(void) {
  return recording ? __atomic_fetch_add(&channel->threads, 1, __ATOMIC_RELAXED) : 0;
}

static void* pages(size_t bytes) {
  void* got = (void*)syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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

// What is called here is not recorded, for there is no ring yet.
static void join_recording(uint32_t number, uintptr_t runs) {
  this_thread.has_joined = true;
  uint64_t more[3] = {0, 0, runs};
  const bool was_apart = this_thread.apart;
  this_thread.apart = true;
  stack_of_this_thread(more);
  this_thread.apart = was_apart;
  struct Frame* frames = pages(kFrames * sizeof(struct Frame));
  struct Ring* ring = frames == NULL ? NULL : take_ring();
  if (ring == NULL) {
    __atomic_fetch_add(&channel->without_ring, 1, __ATOMIC_RELAXED);
    return;
  }
  pthread_setspecific(end_key, (void*)1);
  this_thread.number = number;
  this_thread.frames = frames;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);  // a handler that comes here finds all of it or nothing
  this_thread.ring = ring;
  if (announce_thread != NULL) announce_thread();
  record_in_order_with(kThreadBegin, 0, number, more, 3);
}

void begin_thread(uint32_t number, uintptr_t runs) {
  if (recording) join_recording(number, runs);
}

// A thread that pthread_create did not make, or one of a library's.
struct Ring* ring_of_new_thread(void) {
  if (!recording || this_thread.has_joined) return NULL;
  join_recording(new_thread_number(), 0);
  return this_thread.ring;
}

void end_thread(void) {
  struct Thread thread = this_thread;
  if (thread.ring == NULL) return;
  record_in_order(kThreadEnd, 0, thread.number);
  this_thread.ring = NULL;
  syscall(SYS_munmap, thread.frames, kFrames * sizeof(struct Frame));
  __atomic_store_n(&thread.ring->state, kRingEnded, __ATOMIC_RELEASE);
}

// Comes again until the last round, for the program's own destructors of thread data are to be recorded.
static void thread_data_destroyed(void* rounds) {
  const uintptr_t round = (uintptr_t)rounds;
  if (round < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(end_key, (void*)(round + 1));
  } else {
    end_thread();
  }
}

static void in_forked_child(void) {
  unlock_threads_in_child();
  if (!recording) return;
  recording = false;
  this_thread.ring = NULL;
  __atomic_fetch_add(&channel->forks, 1, __ATOMIC_RELAXED);
}

static struct Channel* open_channel(const char* path) {
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return NULL;
  struct stat status;
  void* got = MAP_FAILED;
  if (fstat(file, &status) == 0 && (size_t)status.st_size >= sizeof(struct Channel)) {
    got = (void*)syscall(SYS_mmap, NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  }
  close(file);
  if (got == MAP_FAILED) return NULL;
  struct Channel* opened = got;
  return opened->magic == CHANNEL_MAGIC && opened->version == kChannelVersion ? opened : NULL;
}

static bool is_first_program(void) {
  uint32_t nobody = 0;
  const bool first =
      __atomic_compare_exchange_n(&channel->program, &nobody, (uint32_t)getpid(), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  if (!first) __atomic_fetch_add(&channel->others, 1, __ATOMIC_RELAXED);
  return first;
}

static void wait_for_collector(void) {
  const struct timespec pause = {0, 100 * 1000};
  while (!__atomic_load_n(&channel->ready, __ATOMIC_ACQUIRE) && !collector_is_gone()) syscall(SYS_nanosleep, &pause, NULL);
}

// Not by getenv, which finds nothing as early as this.
static const char* channel_path(char** environment) {
  const char* name = CHANNEL_VARIABLE "=";
  for (; *environment != NULL; ++environment) {
    size_t at = 0;
    while (name[at] != '\0' && (*environment)[at] == name[at]) ++at;
    if (name[at] == '\0') return *environment + at;
  }
  return NULL;
}

static void start_recording(char** environment) {
  const char* path = channel_path(environment);
  if (path == NULL || (channel = open_channel(path)) == NULL || !is_first_program()) return;
  ring_mask = channel->ring_words - 1;
  wait_for_collector();
  if (pthread_key_create(&end_key, thread_data_destroyed) != 0) return;
  recording = true;
  join_recording(new_thread_number(), 0);
}

// Before the constructors of the program and of its libraries.
static void before_constructors(int count, char** arguments, char** environment) {
  (void)count, (void)arguments;
  prepare_apart();
  this_thread.apart = true;
  find_real_functions();
  pthread_atfork(NULL, NULL, in_forked_child);
  start_recording(environment);
  this_thread.apart = false;
}
__attribute__((section(START_SECTION), used)) static void (*const kStart)(int, char**, char**) = before_constructors;
