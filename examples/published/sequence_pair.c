// One thread publishes numbers in one word, another reads a word beside it that nobody writes.
//
// The case: the benchmark in a discussion of whether the LMAX Disruptor should pad its sequences by one line or two. CURED:
// padded by one.
//
// published: +43 % LMAX-Exchange/disruptor issue 231: 1631 to 2338 operations a microsecond, reader and writer together
// expect: layout pair
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

enum { rounds = 8000 };

struct pair {
  OWN_LINE atomic_long written;
  OWN_LINE atomic_long read;
};

static alignas(64) struct pair pair = {.read = 1};

static void* write_it(void* unused) {
  for (long i = 0; i < rounds; i++) atomic_store_explicit(&pair.written, i, memory_order_release);
  return unused;
}

static void* read_it(void* sum) {
  long all = 0;
  for (int i = 0; i < rounds; i++) all += atomic_load_explicit(&pair.read, memory_order_acquire);
  *(long*)sum = all;
  return NULL;
}

int main(void) {
  pthread_t writer, reader;
  long sum = 0;
  pthread_create(&writer, NULL, write_it, NULL);
  pthread_create(&reader, NULL, read_it, &sum);
  pthread_join(writer, NULL);
  pthread_join(reader, NULL);
  printf("sum %ld\n", sum);
  return sum == rounds ? 0 : 1;
}
