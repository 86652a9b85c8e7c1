// Four threads of one process: two map and unmap memory, which takes the lock of the address space, and two touch pages, which
// takes the lock of the page tables.
//
// The case: mmap_lock and page_table_lock of the kernel's mm_struct share a line with the data that they guard. CURED: each
// lock begins a line.
//
// published: +3.6 % Linux patch "mm: cacheline alignment for page_table_lock and mmap_lock": will-it-scale mmap2, threads
// expect: layout space
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

enum { mappers = 2, touchers = 2, rounds = 1500, work = 60 };

struct space {
  OWN_LINE pthread_spinlock_t map_lock;
  int maps;
  long mapped;
  OWN_LINE pthread_spinlock_t table_lock;
  int tables;
  long pages;
};

static alignas(64) struct space space;
static alignas(64) long own[mappers + touchers][8];

static void compute(long* at) {
  for (int i = 0; i < work; i++) at[i % 8] += i;
}

static void* map(void* number) {
  for (int i = 0; i < rounds; i++) {
    pthread_spin_lock(&space.map_lock);
    space.maps += i % 2 ? -1 : 1;
    space.mapped += i % 2 ? -4096 : 4096;
    pthread_spin_unlock(&space.map_lock);
    compute(own[(long)number]);
  }
  return NULL;
}

static void* touch(void* number) {
  for (int i = 0; i < rounds; i++) {
    pthread_spin_lock(&space.table_lock);
    space.pages++;
    if (i % 512 == 0) space.tables++;
    pthread_spin_unlock(&space.table_lock);
    compute(own[(long)number]);
  }
  return NULL;
}

int main(void) {
  pthread_spin_init(&space.map_lock, 0);
  pthread_spin_init(&space.table_lock, 0);
  pthread_t thread[mappers + touchers];
  for (long i = 0; i < mappers + touchers; i++) pthread_create(&thread[i], NULL, i < mappers ? map : touch, (void*)i);
  for (int i = 0; i < mappers + touchers; i++) pthread_join(thread[i], NULL);
  printf("%ld pages, %d maps\n", space.pages, space.maps);
  return space.pages == (long)touchers * rounds && space.maps == 0 ? 0 : 1;
}
