// Packets are sent along a route. Two threads open connections, which take and drop references to the route. Two other
// threads forward packets, for which they read the route without a reference.
//
// The case: the kernel's struct dst_entry. More than once, its __refcnt has shared a line with fields that each packet reads:
// in 2.6.25-rc1, where tbench showed it, and again until 6.4. CURED: the count has its own line.
//
// expect: layout route
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

enum { openers = 2, forwarders = 2, packets_each = 4000, connections_each = 1500 };

struct route {
  unsigned gateway, device;
  unsigned most_bytes, header_bytes;
  OWN_LINE atomic_int references;
};

static struct route* route;

static void* open_connections(void* bytes) {
  long sent = 0;
  for (int i = 0; i < connections_each; i++) {
    atomic_fetch_add_explicit(&route->references, 1, memory_order_relaxed);
    sent += route->most_bytes;
    atomic_fetch_sub_explicit(&route->references, 1, memory_order_acq_rel);
  }
  *(long*)bytes = sent;
  return NULL;
}

static void* forward(void* bytes) {
  long sent = 0;
  unsigned random = 1;
  for (int i = 0; i < packets_each; i++) {
    random = random * 1664525u + 1013904223u;
    const struct route* to = *(struct route* volatile*)&route;  // like READ_ONCE: the pointer may be replaced at any time
    const unsigned size = (random >> 21) + to->header_bytes;
    sent += size < to->most_bytes ? size : to->most_bytes;
    if (to->device != 1 || to->gateway == 0) abort();
  }
  *(long*)bytes = sent;
  return NULL;
}

int main(void) {
  route = aligned_alloc(64, (sizeof *route + 63) / 64 * 64);
  if (!route) return perror("route_references"), 1;
  *route = (struct route){.gateway = 0x0a000001, .device = 1, .most_bytes = 1500, .header_bytes = 20, .references = 1};
  pthread_t thread[openers + forwarders];
  long bytes[openers + forwarders];
  for (int i = 0; i < openers + forwarders; i++)
    pthread_create(&thread[i], NULL, i < openers ? open_connections : forward, &bytes[i]);
  long all = 0;
  for (int i = 0; i < openers + forwarders; i++) {
    pthread_join(thread[i], NULL);
    all += bytes[i];
  }
  printf("%ld bytes sent\n", all);
  const int left = atomic_load(&route->references);
  free(route);
  return left == 1 ? 0 : 1;
}
