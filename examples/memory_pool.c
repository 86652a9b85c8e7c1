// Several threads get blocks of memory from one pool, fill them, and give them back.
//
//   memory_pool [THREADS] [BLOCKS that each gets in all]
//
// What it shows: the list of free blocks has one lock and one head that every thread writes, and blocks move from cache to
// cache. With -DCACHED each thread keeps some free blocks, and takes them from the list in batches.
#define _POSIX_C_SOURCE 200809L  // barriers

#include <pthread.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_threads = 64, line_bytes = 64, block_bytes = 128, held_at_once = 4, batch = 16, blocks_for_each = 2 * batch };

struct block {
  alignas(line_bytes) struct block* next;
  char data[block_bytes - sizeof(struct block*)];
};

struct pool {
  alignas(line_bytes) pthread_mutex_t lock;
  struct block* free;
};

static struct pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int blocks_each;
static pthread_barrier_t all_are_here;

static void push(struct block** list, struct block* block) {
  block->next = *list;
  *list = block;
}

static struct block* pop(struct block** list) {
  struct block* block = *list;
  if (block) *list = block->next;
  return block;
}

// Moves up to `number` blocks from one list to the other; returns how many.
static int move(struct block** from, struct block** to, int number) {
  int moved = 0;
  for (struct block* block; moved < number && (block = pop(from)); moved++) push(to, block);
  return moved;
}

static int move_locked(struct block** from, struct block** to, int number) {
  pthread_mutex_lock(&pool.lock);
  const int moved = move(from, to, number);
  pthread_mutex_unlock(&pool.lock);
  return moved;
}

#ifdef CACHED
static _Thread_local struct block* cache;
static _Thread_local int cached;

static struct block* get_block(void) {
  if (cached == 0) cached = move_locked(&pool.free, &cache, batch);
  cached--;
  return pop(&cache);
}

static void give_back(struct block* block) {
  push(&cache, block);
  if (++cached > 2 * batch - held_at_once) cached -= move_locked(&cache, &pool.free, batch);
}

static void give_all_back(void) {
  cached -= move_locked(&cache, &pool.free, cached);
}
#else
static struct block* get_block(void) {
  struct block* block = NULL;
  move_locked(&pool.free, &block, 1);
  return block;
}

static void give_back(struct block* block) {
  move_locked(&block, &pool.free, 1);
}

static void give_all_back(void) {}
#endif

static void* use_blocks(void* number) {
  struct block* held[held_at_once];
  // Fills this thread's cache of blocks before the threads start to work.
  give_back(get_block());
  pthread_barrier_wait(&all_are_here);
  for (int i = 0; i < blocks_each; i += held_at_once) {
    for (int j = 0; j < held_at_once; j++) {
      held[j] = get_block();
      memset(held[j]->data, *(const int*)number, sizeof held[j]->data);
    }
    for (int j = 0; j < held_at_once; j++) give_back(held[j]);
  }
  give_all_back();
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 4;
  blocks_each = argc > 2 ? atoi(argv[2]) : 2000;
  if (threads < 1 || threads > most_threads || blocks_each < 1) {
    fprintf(stderr, "memory_pool: 1 to %d threads, and some blocks for each\n", most_threads);
    return 2;
  }
  const int blocks = threads * blocks_for_each;
  struct block* memory = aligned_alloc(line_bytes, sizeof(struct block) * blocks);
  if (!memory) return perror("memory_pool"), 1;
  for (int i = 0; i < blocks; i++) push(&pool.free, &memory[i]);

  pthread_barrier_init(&all_are_here, NULL, (unsigned)threads);
  pthread_t thread[most_threads];
  int number[most_threads];
  for (int i = 0; i < threads; i++) {
    number[i] = i;
    if (pthread_create(&thread[i], NULL, use_blocks, &number[i]) != 0) return perror("memory_pool"), 1;
  }
  for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);

  int returned = 0;
  while (pop(&pool.free)) returned++;
  printf("%d blocks got and given back, %d of %d in the pool\n", threads * blocks_each, returned, blocks);
  free(memory);
  return returned == blocks ? 0 : 1;
}
