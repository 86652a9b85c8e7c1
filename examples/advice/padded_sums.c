// Adds up bytes, words and the largest byte of four messages, one for each thread.
//
// No cure: the sums are in an array with an element for each thread, but each element begins a line.
//
// expect: bottleneck computation
#include <pthread.h>
#include <stdalign.h>
#include <stdio.h>

enum { threads = 4, bytes_each = 4000 };

struct sums {
  alignas(64) long bytes;
  long words;
  unsigned char largest;
};

static struct sums sums[threads];
static alignas(64) unsigned char messages[threads][(bytes_each + 63) / 64 * 64];

static void* add_up(void* number) {
  const unsigned char* message = messages[(long)number];
  struct sums* mine = &sums[(long)number];
  for (int i = 0; i < bytes_each; i++) {
    mine->bytes += message[i];
    if (message[i] < 30) mine->words++;
    if (message[i] > mine->largest) mine->largest = message[i];
  }
  return NULL;
}

int main(void) {
  unsigned random = 1;
  for (int i = 0; i < threads; i++)
    for (int j = 0; j < bytes_each; j++) {
      random = random * 1664525u + 1013904223u;
      messages[i][j] = random >> 24;
    }

  pthread_t thread[threads];
  for (long i = 0; i < threads; i++) pthread_create(&thread[i], NULL, add_up, (void*)i);
  struct sums all = {0};
  for (int i = 0; i < threads; i++) {
    pthread_join(thread[i], NULL);
    all.bytes += sums[i].bytes;
    all.words += sums[i].words;
    if (sums[i].largest > all.largest) all.largest = sums[i].largest;
  }
  printf("%ld in all, %ld words, the largest is %d\n", all.bytes, all.words, all.largest);
  return all.largest == 255 ? 0 : 1;
}
