// A socket under a flood: three threads deliver packets, and drop most of them because its queue is full; one thread receives.
//
// The case: sk_drops of the kernel's struct sock, which each dropped packet changes, shares a line with sk_filter, sk_wq and
// sk_napi_id, which delivering and receiving read. CURED: the count of drops has its own line.
//
// published: +20 % Linux commit 9115e8cd2a0c "net: reorganize struct sock for better data locality": UDP under a flood
// expect: layout socket
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

enum { deliverers = 3, packets_each = 3000, kept = 8 };

struct socket {
  OWN_LINE const void* filter;
  atomic_int* wait_queue;
  unsigned napi_id, buffer_bytes;
  OWN_LINE atomic_int drops;
  OWN_LINE pthread_mutex_t lock;
  long queued;
};

static struct socket* socket_;
static alignas(64) unsigned char headers[deliverers][4096];

static __attribute__((noinline)) void deliver(unsigned char* header, int number) {
  unsigned sum = socket_->napi_id;
  for (int i = 0; i < 20; i++) sum += header[(number * 20 + i) % 4096];
  if (socket_->filter != headers || socket_->buffer_bytes == 0 || sum == 0) abort();
  if (number % kept != 0) {
    atomic_fetch_add_explicit(&socket_->drops, 1, memory_order_relaxed);
    return;
  }
  pthread_mutex_lock(&socket_->lock);
  socket_->queued++;
  pthread_mutex_unlock(&socket_->lock);
}

static void* deliver_all(void* which) {
  for (int i = 0; i < packets_each; i++) deliver(headers[(long)which], i);
  return NULL;
}

static void* receive_all(void* received) {
  long all = 0;
  for (int i = 0; i < packets_each; i++) {
    if (socket_->filter == NULL || socket_->wait_queue != NULL) abort();
    if (i % kept != 0) continue;
    pthread_mutex_lock(&socket_->lock);
    all += socket_->queued;
    socket_->queued = 0;
    pthread_mutex_unlock(&socket_->lock);
  }
  *(long*)received = all;
  return NULL;
}

int main(void) {
  socket_ = aligned_alloc(64, (sizeof *socket_ + 63) / 64 * 64);
  if (!socket_) return 1;
  *socket_ = (struct socket){.filter = headers, .napi_id = 7, .buffer_bytes = 212992};
  pthread_mutex_init(&socket_->lock, NULL);
  pthread_t thread[deliverers + 1];
  long received = 0;
  pthread_create(&thread[deliverers], NULL, receive_all, &received);
  for (long i = 0; i < deliverers; i++) pthread_create(&thread[i], NULL, deliver_all, (void*)i);
  for (int i = 0; i <= deliverers; i++) pthread_join(thread[i], NULL);
  const long all = received + socket_->queued + atomic_load(&socket_->drops);
  printf("%ld packets\n", all);
  free(socket_);
  return all == (long)deliverers * packets_each ? 0 : 1;
}
