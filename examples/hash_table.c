// Counts how often each key of a stream of keys occurs, in one hash table that all threads fill.
//
//   hash_table [THREADS] [KEYS that each counts]
//
// What it shows: one lock admits one thread at a time to the table. With -DSTRIPES=64 there are 64 locks, each for every 64th
// bucket, and threads wait only if their keys fall under one lock.
#include <pthread.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef STRIPES
#define STRIPES 1
#endif

enum { most_threads = 64, line_bytes = 64, buckets = 1024, different_keys = 4096 };

struct entry {
  struct entry* next;
  unsigned key, count;
};

struct stripe {
  alignas(line_bytes) pthread_mutex_t lock;
};

static struct entry* table[buckets];
static struct stripe stripes[STRIPES];
static int keys_each;

// REQUIRES: the bucket's lock.
static struct entry* find(struct entry* first, unsigned key) {
  while (first && first->key != key) first = first->next;
  return first;
}

static void count_key(unsigned key) {
  const unsigned number = key * 2654435761u % buckets;
  pthread_mutex_t* lock = &stripes[number % STRIPES].lock;
  pthread_mutex_lock(lock);
  struct entry* entry = find(table[number], key);
  if (!entry) {
    entry = malloc(sizeof *entry);
    if (!entry) abort();
    *entry = (struct entry){table[number], key, 0};
    table[number] = entry;
  }
  entry->count++;
  pthread_mutex_unlock(lock);
}

static void* count_keys(void* seed) {
  unsigned random = *(const unsigned*)seed;
  for (int i = 0; i < keys_each; i++) {
    random = random * 1664525u + 1013904223u;
    count_key((random >> 8) % different_keys);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 4;
  keys_each = argc > 2 ? atoi(argv[2]) : 2000;
  if (threads < 1 || threads > most_threads || keys_each < 1) {
    fprintf(stderr, "hash_table: 1 to %d threads, and some keys for each\n", most_threads);
    return 2;
  }
  for (int i = 0; i < STRIPES; i++) pthread_mutex_init(&stripes[i].lock, NULL);

  pthread_t thread[most_threads];
  unsigned seed[most_threads];
  for (int i = 0; i < threads; i++) {
    seed[i] = (unsigned)i + 1;
    if (pthread_create(&thread[i], NULL, count_keys, &seed[i]) != 0) return perror("hash_table"), 1;
  }
  for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);

  unsigned keys = 0, counted = 0;
  for (int i = 0; i < buckets; i++)
    for (struct entry *entry = table[i], *next; entry; entry = next) {
      next = entry->next;
      keys++;
      counted += entry->count;
      free(entry);
    }
  printf("%u keys counted, %u different ones\n", counted, keys);
  return counted == (unsigned)(threads * keys_each) ? 0 : 1;
}
