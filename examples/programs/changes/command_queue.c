// One thread gives Aeron's single-producer queue commands, and another carries them out. The queue begins with a line: only
// then does the padding before the change leave the producer's and the consumer's words on one.
// Usage: command_queue COMMANDS

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "concurrent/aeron_spsc_concurrent_array_queue.h"

enum { kPlaces = 16384 };

static uintptr_t commands;
__attribute__((aligned(64))) static aeron_spsc_concurrent_array_queue_t queue;

// Aeron's own are in aeron_alloc.c, which needs the rest of the library.
int aeron_alloc(void** memory, size_t size) {
  *memory = calloc(1, size);
  return *memory == NULL ? -1 : 0;
}

void aeron_free(void* memory) {
  free(memory);
}

static void* offer(void* nothing) {
  for (uintptr_t i = 1; i <= commands; i++) {
    while (aeron_spsc_concurrent_array_queue_offer(&queue, (void*)i) != AERON_OFFER_SUCCESS) {
    }
  }
  return nothing;
}

int main(int count, char** arguments) {
  pthread_t producer;
  uint64_t sum = 0;
  if (count < 2) return 2;
  commands = strtoull(arguments[1], NULL, 10);
  if (aeron_spsc_concurrent_array_queue_init(&queue, kPlaces) != 0) return 1;
  pthread_create(&producer, NULL, offer, NULL);
  for (uintptr_t taken = 0; taken < commands;) {
    void* command = aeron_spsc_concurrent_array_queue_poll(&queue);
    if (command == NULL) continue;
    sum += (uintptr_t)command;
    taken++;
  }
  pthread_join(producer, NULL);
  aeron_spsc_concurrent_array_queue_close(&queue);
  printf("sum %llu\n", (unsigned long long)sum);
  return 0;
}
