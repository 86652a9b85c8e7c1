// Counts packets by kind. Each of four threads has its own queue of packets and its own counts, side by side in one array.
//
// The case: per-thread statistics in an array of structures, the textbook's false sharing. No thread reads another's counts,
// but each line of the array is written by two or three threads. CURED: each thread's counts begin a line.
//
// published: +6.5 % redis/redis pull request 14907: counters of I/O threads, the largest of its gains
// expect: layout tally
#include <pthread.h>
#include <stdalign.h>
#include <stdio.h>

#ifdef CURED
#define OWN_LINE alignas(64)
#else
#define OWN_LINE
#endif

enum { threads = 4, packets_each = 3000 };

struct tally {
  OWN_LINE long packets;
  long bytes, dropped;
};

static alignas(64) struct tally tallies[threads];
static alignas(64) unsigned char sizes[threads][packets_each];

// Called for each packet, as by a driver, so that the counts stay in memory instead of in registers during a loop.
static __attribute__((noinline)) void take(struct tally* tally, unsigned char size) {
  tally->packets++;
  tally->bytes += size;
  if (size < 20) tally->dropped++;
}

static void* take_packets(void* number) {
  for (int i = 0; i < packets_each; i++) take(&tallies[(long)number], sizes[(long)number][i]);
  return NULL;
}

int main(void) {
  unsigned random = 1;
  for (int i = 0; i < threads; i++)
    for (int j = 0; j < packets_each; j++) {
      random = random * 1664525u + 1013904223u;
      sizes[i][j] = random >> 24;
    }

  pthread_t thread[threads];
  for (long i = 0; i < threads; i++) pthread_create(&thread[i], NULL, take_packets, (void*)i);
  struct tally all = {0};
  for (int i = 0; i < threads; i++) {
    pthread_join(thread[i], NULL);
    all.packets += tallies[i].packets;
    all.bytes += tallies[i].bytes;
    all.dropped += tallies[i].dropped;
  }
  printf("%ld packets, %ld bytes, %ld dropped\n", all.packets, all.bytes, all.dropped);
  return all.packets == (long)threads * packets_each ? 0 : 1;
}
