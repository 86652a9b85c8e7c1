// Four threads try keys in blocks of 256. After each block, a thread adds to the total that a display shows.
//
// The case: total_states_tested of crypto1_bs, changed by each thread after each block. CURED: each thread adds up 256 blocks
// before it adds.
//
// published: +16 % aczid/crypto1_bs pull request 55: 1660 to 1430 ms, 32 threads on a Ryzen 9 3950X
// expect: count states_tested
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>

enum { threads = 4, blocks_each = 600, words = 8, flush_after = 256 };

static alignas(64) atomic_long states_tested;
static alignas(64) unsigned long state[threads][words];

static __attribute__((noinline)) void try_block(unsigned long* at, int round) {
  for (int i = 0; i < 4 * words; i++) at[i % words] ^= at[(i + 3) % words] + (unsigned long)round;
}

static void* search(void* number) {
  long pending = 0;
  for (int i = 0; i < blocks_each; i++) {
    try_block(state[(long)number], i);
#ifdef CURED
    pending += 256;
    if ((i + 1) % flush_after != 0 && i + 1 != blocks_each) continue;
#else
    pending = 256;
#endif
    atomic_fetch_add_explicit(&states_tested, pending, memory_order_relaxed);
    pending = 0;
  }
  return NULL;
}

int main(void) {
  pthread_t thread[threads];
  for (long i = 0; i < threads; i++) pthread_create(&thread[i], NULL, search, (void*)i);
  for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
  const long all = atomic_load(&states_tested);
  printf("%ld states\n", all);
  return all == 256L * threads * blocks_each ? 0 : 1;
}
