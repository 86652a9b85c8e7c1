// Two threads send numbers to two others, each pair through its own ring.
//
// No cure: each index has its own line, where its owner also keeps a copy of the other index. The ring is so long that
// this copy seldom needs a refresh. The remaining cost is moving the numbers from cache to cache.
//
// expect: bottleneck computation or all.number
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>

enum { rings = 2, places = 1024, numbers = 3000 };

struct ring {
  alignas(64) atomic_uint head;
  unsigned tail_seen;
  long sum;
  alignas(64) atomic_uint tail;
  unsigned head_seen;
  alignas(64) int number[places];
};

static struct ring all[rings];

static void* produce(void* argument) {
  struct ring* ring = argument;
  for (int i = 0; i < numbers; i++) {
    const unsigned tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    while (tail - ring->head_seen == places) {
      ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
      if (tail - ring->head_seen == places) sched_yield();
    }
    ring->number[tail % places] = i;
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
  }
  return NULL;
}

static void* consume(void* argument) {
  struct ring* ring = argument;
  for (int i = 0; i < numbers; i++) {
    const unsigned head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    while (ring->tail_seen == head) {
      ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
      if (ring->tail_seen == head) sched_yield();
    }
    ring->sum += ring->number[head % places];
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
  }
  return NULL;
}

int main(void) {
  pthread_t producer[rings], consumer[rings];
  for (int i = 0; i < rings; i++) {
    pthread_create(&producer[i], NULL, produce, &all[i]);
    pthread_create(&consumer[i], NULL, consume, &all[i]);
  }
  long sum = 0;
  for (int i = 0; i < rings; i++) {
    pthread_join(producer[i], NULL);
    pthread_join(consumer[i], NULL);
    sum += all[i].sum;
  }
  printf("sum %ld\n", sum);
  return sum == (long)rings * numbers * (numbers - 1) / 2 ? 0 : 1;
}
