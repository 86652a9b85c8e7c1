// Three threads answer requests, each by the current configuration; one thread accepts connections and counts them.
//
// The case: a pointer that every request reads and hardly anyone writes, beside a counter that is written all the time. The
// kernel has __read_mostly and ____cacheline_aligned for such pairs. CURED: the counter moves to its own line.
//
// expect: layout server
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>

#ifdef CURED
#define OWN_LINE alignas(64)
#else
#define OWN_LINE
#endif

enum { workers = 3, requests_each = 4000, connections = 4000, most_header_bytes = 64 };

struct config {
  int limit, timeout;
};

struct server {
  _Atomic(const struct config*) config;
  OWN_LINE atomic_long accepted;
};

static alignas(64) const struct config defaults = {most_header_bytes, 30};
static alignas(64) struct server server;

struct worker {
  alignas(64) long refused;
};

static alignas(64) struct worker worker[workers];

static void* answer(void* number) {
  struct worker* mine = &worker[(long)number];
  unsigned random = (unsigned)(long)number + 1;
  for (int i = 0; i < requests_each; i++) {
    random = random * 1664525u + 1013904223u;
    const struct config* config = atomic_load_explicit(&server.config, memory_order_acquire);
    if ((int)(random >> 25) > config->limit) mine->refused++;
  }
  return NULL;
}

static void* accept_connections(void* unused) {
  for (int i = 0; i < connections; i++) atomic_fetch_add_explicit(&server.accepted, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  atomic_store(&server.config, &defaults);
  pthread_t acceptor, thread[workers];
  pthread_create(&acceptor, NULL, accept_connections, NULL);
  for (long i = 0; i < workers; i++) pthread_create(&thread[i], NULL, answer, (void*)i);
  pthread_join(acceptor, NULL);
  long refused = 0;
  for (int i = 0; i < workers; i++) {
    pthread_join(thread[i], NULL);
    refused += worker[i].refused;
  }
  printf("%ld accepted, %ld refused\n", atomic_load(&server.accepted), refused);
  return refused > 0 ? 0 : 1;
}
