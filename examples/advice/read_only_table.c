// Computes checksums (CRC-32) of blocks with a table that the main thread fills first.
//
// No cure: once the threads run, the table is only read, so each cache keeps a copy of it.
//
// expect: bottleneck computation
#include <pthread.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>

enum { threads = 4, bytes_each = 6000 };

static alignas(64) uint32_t table[256];

struct block {
  alignas(64) uint32_t checksum;
  unsigned char seed;
};

static struct block blocks[threads];

static void fill_table(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; bit++) value = value & 1 ? value >> 1 ^ 0xedb88320u : value >> 1;
    table[i] = value;
  }
}

static void* sum_block(void* argument) {
  struct block* block = argument;
  uint32_t sum = 0xffffffffu;
  for (int i = 0; i < bytes_each; i++) {
    const unsigned char byte = (unsigned char)(block->seed + i * 7);
    sum = table[(sum ^ byte) & 255] ^ sum >> 8;
  }
  block->checksum = ~sum;
  return NULL;
}

int main(void) {
  fill_table();
  pthread_t thread[threads];
  for (int i = 0; i < threads; i++) {
    blocks[i].seed = (unsigned char)(i * 50);
    pthread_create(&thread[i], NULL, sum_block, &blocks[i]);
  }
  for (int i = 0; i < threads; i++) {
    pthread_join(thread[i], NULL);
    printf("%08x\n", blocks[i].checksum);
  }
  return 0;
}
