// Operations beyond C11: reading the clock, the pause of a spin loop, flushing a line from all caches, and pinning a thread to
// a CPU.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kLineBytes = 64 };

static inline double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static inline void pause_spin(void) {
#if defined(__x86_64__) || defined(__i386__)
  __asm__ volatile("pause");
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Other processors have no instruction that flushes a line. A line can then not be brought into the Exclusive or Shared state
// on purpose, so the output has no rows for these states.
#if defined(__x86_64__) || defined(__aarch64__)
static const bool can_flush = true;
#else
static const bool can_flush = false;
#endif

// Flushes the line out of all caches of the machine.
static inline void flush_line(void* line) {
#if defined(__x86_64__)
  __asm__ volatile("clflush (%0)" : : "r"(line) : "memory");
#elif defined(__aarch64__)
  __asm__ volatile("dc civac, %0" : : "r"(line) : "memory");
#else
  (void)line;
#endif
}

static inline void full_fence(void) {
#if defined(__aarch64__)
  __asm__ volatile("dsb sy" : : : "memory");
#endif
  atomic_thread_fence(memory_order_seq_cst);
}

// Takes about `cycles` cycles: each dependent XOR takes one, and the loop's own instructions run in parallel.
static inline void spend_cycles(int cycles) {
  unsigned long x = 1, y = 3;
  for (int i = 0; i < cycles; ++i) {
    x ^= y;
    __asm__ volatile("" : "+r"(x));
  }
}

static inline _Noreturn void give_up(const char* what) {
  perror(what);
  exit(2);
}

static inline cpu_set_t only(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)cpu, &set);
  return set;
}

static inline void pin_to(int cpu) {
  const cpu_set_t set = only(cpu);
  if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0) give_up("linebounce-probe: pthread_setaffinity_np");
}

// A team of threads, each pinned to its CPU. Member 0 is the calling thread. All members begin together, when all are ready.
struct team {
  int size;
  const int* cpus;
  void (*work)(int member, void* argument);
  void* argument;
  _Atomic int arrived;
};

struct member {
  struct team* team;
  int number;
  pthread_t thread;
};

static inline void* run_member(void* argument) {
  const struct member* me = argument;
  struct team* team = me->team;
  atomic_fetch_add(&team->arrived, 1);
  while (atomic_load(&team->arrived) < team->size) pause_spin();
  team->work(me->number, team->argument);
  return NULL;
}

// The thread begins on its CPU. On the creator's, which spins meanwhile, it would never run under a real-time policy.
static inline void create_member(struct member* member) {
  const cpu_set_t set = only(member->team->cpus[member->number]);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0 || pthread_attr_setaffinity_np(&attributes, sizeof set, &set) != 0 ||
      pthread_create(&member->thread, &attributes, run_member, member) != 0) {
    give_up("linebounce-probe: pthread_create");
  }
  pthread_attr_destroy(&attributes);
}

static inline void run_team(int size, const int* cpus, void (*work)(int, void*), void* argument) {
  struct team team = {size, cpus, work, argument, 0};
  struct member* members = calloc((size_t)size, sizeof *members);
  if (!members) give_up("linebounce-probe");
  for (int i = 0; i < size; ++i) {
    members[i] = (struct member){.team = &team, .number = i};
    if (i > 0) create_member(&members[i]);
  }
  pin_to(cpus[0]);
  run_member(&members[0]);
  for (int i = 1; i < size; ++i) pthread_join(members[i].thread, NULL);
  free(members);
}
