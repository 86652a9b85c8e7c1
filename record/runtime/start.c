// The runtime's start: opens the channel before any constructor runs, and lets the first thread join.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "apart.h"
#include "joining.h"
#include "processes.h"
#include "real.h"

static struct Channel* open_channel(const char* path) {
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return NULL;
  struct stat status;
  void* got = MAP_FAILED;
  if (fstat(file, &status) == 0 && (size_t)status.st_size >= sizeof(struct Channel)) {
    got = (void*)REAL(syscall)(SYS_mmap, NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
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
  while (!__atomic_load_n(&channel->ready, __ATOMIC_ACQUIRE) && !collector_is_gone()) REAL(syscall)(SYS_nanosleep, &pause, NULL);
}

// Searches `environment`, because getenv() finds nothing this early.
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
  if (!prepare_joining()) return;
  measures_time = channel->measures_time != 0;
  recording = true;
  begin_thread(new_thread_number(), 0);
}

// Runs before the constructors of the program and of its libraries.
static void before_constructors(int count, char** arguments, char** environment) {
  (void)count, (void)arguments;
  prepare_apart();
  this_thread.apart = true;
  find_real_functions();
  prepare_processes();
  start_recording(environment);
  this_thread.apart = false;
}
__attribute__((section(START_SECTION), used)) static void (*const kStart)(int, char**, char**) = before_constructors;
