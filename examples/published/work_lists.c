// Four workers of a garbage collector: each takes an empty buffer from one list, fills it, and puts it on the list of full
// buffers. Then it takes a full buffer, empties it, and puts it on the list of empty ones.
//
// The case: work.full and work.empty of Go's runtime, the heads of two lock-free lists, lie side by side. CURED: each
// head has its own line.
//
// published: +9.7 % Go commit bdc5533f391a "runtime: pad work.full and pad.empty": DeathStarBench; gRPC +8 %
// expect: layout work
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

enum { threads = 4, rounds = 1200, buffers = 64, places = 24 };

struct buffer {
  alignas(64) _Atomic unsigned next;
  unsigned count;
  long object[places];
};

// A head is the number of its first buffer plus one; its upper bits count the changes of the head.
struct work {
  OWN_LINE _Atomic unsigned long full;
  OWN_LINE _Atomic unsigned long empty;
};

static struct buffer buffer[buffers];
static alignas(64) struct work work;

static void push(_Atomic unsigned long* list, unsigned number) {
  unsigned long head = atomic_load_explicit(list, memory_order_relaxed);
  do {
    atomic_store_explicit(&buffer[number].next, (unsigned)head, memory_order_relaxed);
  } while (!atomic_compare_exchange_weak(list, &head, ((head >> 32) + 1) << 32 | (number + 1)));
}

static int pop(_Atomic unsigned long* list) {
  unsigned long head = atomic_load(list);
  unsigned first, next;
  do {
    first = (unsigned)head;
    if (first == 0) return -1;
    next = atomic_load_explicit(&buffer[first - 1].next, memory_order_relaxed);
  } while (!atomic_compare_exchange_weak(list, &head, ((head >> 32) + 1) << 32 | next));
  return (int)first - 1;
}

static void* mark(void* sum) {
  long all = 0;
  for (int i = 0; i < rounds; i++) {
    int number = pop(&work.empty);
    if (number >= 0) {
      for (int k = 0; k < places; k++) buffer[number].object[k] = i + k;
      push(&work.full, (unsigned)number);
    }
    number = pop(&work.full);
    if (number < 0) continue;
    for (int k = 0; k < places; k++) all += buffer[number].object[k];
    push(&work.empty, (unsigned)number);
  }
  *(long*)sum = all;
  return NULL;
}

int main(void) {
  for (unsigned i = 0; i < buffers; i++) push(&work.empty, i);
  pthread_t thread[threads];
  long sums[threads], all = 0;
  for (int i = 0; i < threads; i++) pthread_create(&thread[i], NULL, mark, &sums[i]);
  for (int i = 0; i < threads; i++) {
    pthread_join(thread[i], NULL);
    all += sums[i];
  }
  printf("sum %ld\n", all);
  return all > 0 ? 0 : 1;
}
