// Structures of C, for the comparison with gdb.
#include <complex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

typedef struct {
  int unnamed;
  struct {
    char deep[3];
    union {
      double d;
      unsigned char raw[8];
    };
  } part;
} alias;

struct ring;
struct entry {
  struct entry* next;
  struct ring* in;
  unsigned live : 1, dirty : 1, age : 6;
  unsigned char : 0;
  unsigned kind : 3;
  bool last : 1;
  long double wide;
};
struct ring {
  _Alignas(64) unsigned head;
  _Alignas(64) unsigned tail;
  struct entry* slot[7];
  struct {
    int x, y;
  } points[2][3];
  alias both;
  char rest[];
};
struct __attribute__((packed, aligned(4))) wire {
  char type;
  unsigned long length;
  unsigned low : 12, high : 9;
  short check;
};
struct library {
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  pthread_rwlock_t rwlock;
  pthread_barrier_t barrier;
  struct stat stat;
  struct sockaddr_storage address;
  struct timespec time;
  struct sigaction action;
  siginfo_t info;
  FILE file;
  float complex number;
  _Atomic long counter;
};

struct ring* ring;
struct wire wire;
struct library library;

int main(void) { return ring == NULL ? wire.type : (int)ring->head; }
