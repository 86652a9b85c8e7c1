// Four threads search measurements of 16 channels for an alarm in the first channel, and add those with an alarm to
// one list.
//
// No cure: the list has one lock, but a thread searches a hundred times as long as it holds the lock.
//
// expect: bottleneck levels
#include <pthread.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>

enum { threads = 4, measured_each = 3000, channels = 16, alarm_level = 255 };

struct alarm {
  struct alarm* next;
  int number;
};

static alignas(64) int levels[threads * measured_each][channels];

static alignas(64) struct {
  pthread_mutex_t lock;
  struct alarm* first;
} list = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void* search(void* number) {
  const int first = (int)(long)number * measured_each;
  for (int i = first; i < first + measured_each; i++) {
    if (levels[i][0] < alarm_level) continue;
    struct alarm* alarm = malloc(sizeof *alarm);
    if (!alarm) abort();
    alarm->number = i;
    pthread_mutex_lock(&list.lock);
    alarm->next = list.first;
    list.first = alarm;
    pthread_mutex_unlock(&list.lock);
  }
  return NULL;
}

int main(void) {
  int alarms = 0;
  unsigned random = 1;
  for (int i = 0; i < threads * measured_each; i++) {
    random = random * 1664525u + 1013904223u;
    levels[i][0] = (int)((random >> 16) % (alarm_level + 1));
    alarms += levels[i][0] == alarm_level;
  }

  pthread_t thread[threads];
  for (long i = 0; i < threads; i++) pthread_create(&thread[i], NULL, search, (void*)i);
  for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
  int found = 0;
  for (struct alarm *alarm = list.first, *next; alarm; alarm = next) {
    next = alarm->next;
    found++;
    free(alarm);
  }
  printf("%d alarms\n", found);
  return found == alarms ? 0 : 1;
}
