// Two pairs of threads, each with a ring through which one thread sends numbers to the other.
//
// The case: a queue for one producer and one consumer with head and tail in one line. Each thread keeps a
// copy of the other's index, so it seldom loads the index itself (as in FastForward, MCRingBuffer, folly's and rigtorp's
// queues). But both indices share a line, so each number still costs a miss. CURED: each thread's part begins a line.
//
// published: +21 % google/gvisor pull request 13682: fields of a queue grouped by writer, hackbench
// expect: layout ring
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>

#ifdef CURED
#define OWN_LINE alignas(64)
#else
#define OWN_LINE
#endif

enum { rings = 2, places = 512, numbers = 3000 };

struct ring {
  OWN_LINE atomic_uint head;  // changed by the consumer
  unsigned tail_seen;
  OWN_LINE atomic_uint tail;  // changed by the producer
  unsigned head_seen;
  OWN_LINE int number[places];
};

static alignas(64) struct ring all[rings];
static long sums[rings];

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
  long sum = 0;
  for (int i = 0; i < numbers; i++) {
    const unsigned head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    while (ring->tail_seen == head) {
      ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
      if (ring->tail_seen == head) sched_yield();
    }
    sum += ring->number[head % places];
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
  }
  sums[ring - all] = sum;
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
    sum += sums[i];
  }
  printf("sum %ld\n", sum);
  return sum == (long)rings * numbers * (numbers - 1) / 2 ? 0 : 1;
}
