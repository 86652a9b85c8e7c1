// Valkey's main thread looks up keys, and asks for the memory used after each; an I/O thread allocates replies and frees them.
// Memory is counted by Valkey's zmalloc.c, and keys are hashed by its siphash.c.
// Usage: memory_counts COMMANDS

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zmalloc.h"

enum { kBuckets = 1024, kKeyBytes = 16 };

uint64_t siphash(const uint8_t* in, const size_t inlen, const uint8_t* k);

// serverassert.h asks for these.
void _serverAssert(const char* condition, const char* file, int line) {
  fprintf(stderr, "%s:%d: %s\n", file, line, condition);
  abort();
}

void _serverPanic(const char* file, int line, const char* message, ...) {
  _serverAssert(message, file, line);
}

static void* reply(void* given) {
  const unsigned long commands = *(const unsigned long*)given;
  for (unsigned long i = 0; i < commands; i++) {
    char* buffer = zmalloc(64);
    memset(buffer, (int)i, 64);
    zfree(buffer);
  }
  return NULL;
}

int main(int count, char** arguments) {
  static const uint8_t seed[16] = {1};
  pthread_t io_thread;
  uint64_t* buckets = zcalloc(kBuckets * sizeof *buckets);
  uint64_t found = 0;
  size_t peak = 0;
  if (count < 2) return 2;
  unsigned long commands = strtoul(arguments[1], NULL, 10);
  pthread_create(&io_thread, NULL, reply, &commands);
  for (unsigned long i = 0; i < commands; i++) {
    uint8_t* key = zmalloc(kKeyBytes);
    memset(key, 0, kKeyBytes);
    const unsigned long number = i % kBuckets;
    memcpy(key, &number, sizeof number);
    found += ++buckets[siphash(key, kKeyBytes, seed) % kBuckets];
    zfree(key);
    const size_t used = zmalloc_used_memory();
    if (used > peak) peak = used;
  }
  pthread_join(io_thread, NULL);
  printf("found %llu, left %zu\n", (unsigned long long)found, zmalloc_used_memory());
  zfree(buckets);
  return peak > 0 ? 0 : 1;
}
