// Four threads take the numbers of tasks from one counter, and work a little on each.
//
// No cure: the counter is on its own line, and all threads need its value. No layout makes that cheaper, and there is no
// lock. All threads begin together and often yield the processor, so that they overlap even when recorded on a busy machine.
//
// expect: bottleneck next_task
#define _POSIX_C_SOURCE 200809L  // for barriers
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>

enum { threads = 4, tasks = 4000 };

static alignas(64) atomic_int next_task;

struct result {
  alignas(64) unsigned sum;
};

static struct result results[threads];

static pthread_barrier_t start;

static void* work(void* number) {
  unsigned sum = 0;
  pthread_barrier_wait(&start);
  for (int task; (task = atomic_fetch_add_explicit(&next_task, 1, memory_order_relaxed)) < tasks;) {
    unsigned value = (unsigned)task;
    for (int i = 0; i < 20; i++) value = value * 1664525u + 1013904223u;
    sum += value;
    if (task % 10 == 0) sched_yield();
  }
  results[(long)number].sum = sum;
  return NULL;
}

int main(void) {
  pthread_t thread[threads];
  pthread_barrier_init(&start, NULL, threads);
  for (long i = 0; i < threads; i++) pthread_create(&thread[i], NULL, work, (void*)i);
  unsigned all = 0;
  for (int i = 0; i < threads; i++) {
    pthread_join(thread[i], NULL);
    all += results[i].sum;
  }
  printf("%d tasks, sum %u\n", tasks, all);
  return 0;
}
