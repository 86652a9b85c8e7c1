// Two threads test states of the cipher Crypto-1 with crypto1_bs, which counts them. The states are chosen by chance and no
// nonce was encrypted, so no key is found: CraptEV1, which derives states from a card's nonces, may not be passed on.
// Usage: tested_states ODD_STATES

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "crypto1_bs.h"

enum { kThreads = 2, kEvenStates = 4096 };

uint64_t crack_states_bitsliced(uint32_t** task);
extern uint64_t total_states_tested;
extern bitslice_t bitsliced_encrypted_nonces[NONCE_TESTS][STATE_SIZE];
extern bitslice_t bitsliced_encrypted_parity_bits[NONCE_TESTS][STATE_SIZE];
extern bitslice_t bitsliced_rollback_byte[ROLLBACK_SIZE];

static uint32_t even_states[kEvenStates];

struct work {
  uint32_t* odd_states;
  uint32_t count;
  uint64_t key;
};

static uint32_t by_chance(void) {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 32);
}

// CraptEV1's function of this name would undo eight steps of the cipher. Which states are tested does not matter here.
uint8_t lfsr_rollback_byte(uint64_t* state, uint32_t in, int encrypted) {
  *state = *state << 4 ^ in ^ (uint32_t)encrypted;
  return 0;
}

static void* test_states(void* given) {
  struct work* work = given;
  uint32_t* task[5] = {NULL, work->odd_states, work->odd_states + work->count, even_states, even_states + kEvenStates};
  work->key = crack_states_bitsliced(task);
  return NULL;
}

int main(int count, char** arguments) {
  pthread_t other;
  struct work work[kThreads];
  if (count < 2) return 2;
  crypto1_bs_init();
  crypto1_bs_bitslice_value32(by_chance(), bitsliced_rollback_byte, ROLLBACK_SIZE);
  for (int i = 0; i < NONCE_TESTS; i++) {
    crypto1_bs_bitslice_value32(by_chance(), bitsliced_encrypted_nonces[i], 32);
    crypto1_bs_bitslice_value32(by_chance(), bitsliced_encrypted_parity_bits[i], 4);
  }
  for (int i = 0; i < kEvenStates; i++) even_states[i] = by_chance() & 0xffffff;
  for (int i = 0; i < kThreads; i++) {
    work[i].count = (uint32_t)strtoul(arguments[1], NULL, 10);
    work[i].odd_states = malloc(work[i].count * sizeof *work[i].odd_states);
    for (uint32_t j = 0; j < work[i].count; j++) work[i].odd_states[j] = by_chance() & 0xffffff;
  }
  pthread_create(&other, NULL, test_states, &work[1]);
  test_states(&work[0]);
  pthread_join(other, NULL);
  for (int i = 0; i < kThreads; i++) {
    if (work[i].key != (uint64_t)-1) printf("key %llx\n", (unsigned long long)work[i].key);
    free(work[i].odd_states);
  }
  printf("tested %llu\n", (unsigned long long)total_states_tested);
  return 0;
}
