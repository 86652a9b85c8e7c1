// A semaphore whose readers only try. table.py copies this beside an rwsem that `linebounce lock` has made.
// linebounce includes from: headers source/include
#include <linebounce/kernel.h>

#include "source/kernel/locking/osq_lock.c"
#include "source/kernel/locking/qspinlock.c"
#include "source/kernel/locking/rwsem.c"

LINEBOUNCE_LOCK(struct rw_semaphore, .title = "a semaphore whose readers only try")

void init(struct rw_semaphore* sem) {
  init_rwsem(sem);
}

void acquire(struct rw_semaphore* sem) {
  down_write(sem);
}

void release(struct rw_semaphore* sem) {
  up_write(sem);
}

void acquire_shared(struct rw_semaphore* sem) {
  while (!down_read_trylock(sem)) cpu_relax();
}

void release_shared(struct rw_semaphore* sem) {
  up_read(sem);
}
