// Four threads search a text, each for one letter. At each 1000th letter a thread stores its progress, for a display.
//
// No cure that pays: the four words share a line falsely, but are written so seldom that a line for each gains nothing.
//
// expect: bottleneck computation or text
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>

enum { threads = 4, letters = 8000, noted_each = 1000 };

struct progress {
  atomic_int searched, found;
};

static alignas(64) struct progress progress[threads];
static alignas(64) char text[letters];

static void* search(void* number) {
  const char wanted = (char)('a' + (long)number);
  struct progress* mine = &progress[(long)number];
  int found = 0;
  for (int i = 0; i < letters; i++) {
    found += text[i] == wanted;
    if ((i + 1) % noted_each != 0) continue;
    atomic_store_explicit(&mine->searched, i + 1, memory_order_relaxed);
    atomic_store_explicit(&mine->found, found, memory_order_relaxed);
  }
  return NULL;
}

int main(void) {
  unsigned random = 1;
  for (int i = 0; i < letters; i++) {
    random = random * 1664525u + 1013904223u;
    text[i] = (char)('a' + (random >> 16) % 26);
  }

  pthread_t thread[threads];
  for (long i = 0; i < threads; i++) pthread_create(&thread[i], NULL, search, (void*)i);
  int searched = 0;
  for (int i = 0; i < threads; i++) {
    pthread_join(thread[i], NULL);
    searched += atomic_load(&progress[i].searched);
    printf("%c: %d\n", 'a' + i, atomic_load(&progress[i].found));
  }
  return searched == threads * letters ? 0 : 1;
}
