// Three readers look at a structure that one writer replaces; the old one is freed by call_rcu, in liburcu's own thread.
// Prints how many were made and freed, and that no reader saw one that was freed: the same each time.
// Usage: liburcu [TIMES]
// -DPADDED: what readers read is on its own line.

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <urcu/urcu-memb.h>

enum { kReaders = 3, kReads = 20000, kVersions = 300 };

struct version {
  long number, twice;
  struct rcu_head head;
};

static int times = 1;
#ifdef PADDED
__attribute__((aligned(64)))
#endif
static struct version* current;
#ifdef PADDED
__attribute__((aligned(64)))
#endif
static unsigned long freed;  // written only by call_rcu's thread

static struct version* make(long number) {
  struct version* version = malloc(sizeof *version);
  version->number = number;
  version->twice = 2 * number;
  return version;
}

static void free_version(struct rcu_head* head) {
  struct version* version = caa_container_of(head, struct version, head);
  version->twice = -1;
  free(version);
  freed++;
}

static void* read_versions(void* wrong) {
  urcu_memb_register_thread();
  for (int i = 0; i < times * kReads; i++) {
    urcu_memb_read_lock();
    const struct version* version = rcu_dereference(current);
    if (version->twice != 2 * version->number) ++*(long*)wrong;
    urcu_memb_read_unlock();
  }
  urcu_memb_unregister_thread();
  return NULL;
}

static void* write_versions(void* nothing) {
  urcu_memb_register_thread();
  for (long number = 1; number <= times * kVersions; number++) {
    struct version* old = rcu_xchg_pointer(&current, make(number));
    urcu_memb_call_rcu(&old->head, free_version);
    if (number % 10 == 0) sched_yield();
  }
  urcu_memb_unregister_thread();
  return nothing;
}

int main(int count, char** arguments) {
  pthread_t readers[kReaders], writer;
  long wrong[kReaders] = {0};
  long all_wrong = 0;
  if (count > 1) times = atoi(arguments[1]);
  current = make(0);
  for (int i = 0; i < kReaders; i++) pthread_create(&readers[i], NULL, read_versions, &wrong[i]);
  pthread_create(&writer, NULL, write_versions, NULL);
  for (int i = 0; i < kReaders; i++) pthread_join(readers[i], NULL);
  pthread_join(writer, NULL);
  urcu_memb_register_thread();
  urcu_memb_barrier();
  urcu_memb_unregister_thread();
  for (int i = 0; i < kReaders; i++) all_wrong += wrong[i];
  printf("version %ld, freed %lu, wrong %ld\n", current->number, freed, all_wrong);
  return 0;
}
