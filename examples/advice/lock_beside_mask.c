// A hash table whose readers take no lock: two threads look keys up, and two add entries under the lock.
//
// The case: a lock in the line that readers need. Each acquisition writes that line, although the data that it guards lies
// elsewhere. The kernel has moved locks away from such fields several times (struct address_space, struct zone). CURED: the
// lock has its own line.
//
// published: +55 % Linux commit 18a5daf0e497: d_lockref in the line of a dentry that lookups read
// expect: layout table
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

enum { readers = 2, writers = 2, buckets = 1024, name_bytes = 60, added_each = 200, lookups_each = 6000 };

struct table {
  atomic_uint* keys;
  unsigned mask;
  OWN_LINE pthread_mutex_t lock;  // for threads that add
};

static alignas(64) struct table table = {.mask = buckets - 1, .lock = PTHREAD_MUTEX_INITIALIZER};

static unsigned next(unsigned* random) {
  *random = *random * 1664525u + 1013904223u;
  return *random >> 8;
}

static void* look_up(void* argument) {
  unsigned random = 7, found = 0;
  for (int i = 0; i < lookups_each; i++) {
    const unsigned key = next(&random) | 1;
    const struct table* now = *(struct table* volatile*)argument;
    for (unsigned at = key & now->mask;; at = (at + 1) & now->mask) {
      const unsigned there = atomic_load_explicit(&now->keys[at], memory_order_acquire);
      found += there == key;
      if (there == key || there == 0) break;
    }
  }
  return (void*)(long)found;
}

static void* add(void* argument) {
  struct table* table = *(struct table**)argument;
  unsigned random = 3;
  for (int i = 0; i < added_each; i++) {
    char name[name_bytes];  // the key is computed from it before the lock is taken; most of the time goes there
    for (int j = 0; j < name_bytes; j++) name[j] = (char)(next(&random) % 26);
    unsigned key = 1;
    for (int j = 0; j < name_bytes; j++) key = key * 62 + (unsigned)name[j] * 2;
    pthread_mutex_lock(&table->lock);
    atomic_uint* place = &table->keys[key & (buckets - 1)];
    if (atomic_load_explicit(place, memory_order_relaxed) == 0) atomic_store_explicit(place, key, memory_order_release);
    pthread_mutex_unlock(&table->lock);
  }
  return NULL;
}

int main(void) {
  static alignas(64) struct table* current = &table;
  table.keys = calloc(buckets, sizeof *table.keys);
  if (!table.keys) return perror("lock_beside_mask"), 1;
  pthread_t thread[readers + writers];
  for (int i = 0; i < readers + writers; i++) pthread_create(&thread[i], NULL, i < writers ? add : look_up, &current);
  for (int i = 0; i < readers + writers; i++) pthread_join(thread[i], NULL);
  printf("%u places\n", table.mask + 1);
  free(table.keys);
  return 0;
}
