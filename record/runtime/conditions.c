// Condition variables, semaphores and barriers. A signal is recorded before it is sent, a wake-up after it has happened.
// A thread's arrival at a barrier is recorded before it waits there: once a thread has left, all others may be gone.
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

#include "events.h"
#include "real.h"

typedef const struct timespec* Until;

static void waiting(const void* condition, const void* mutex) {
  const uint64_t more = (uintptr_t)mutex;
  record_in_order_with(kConditionWait, 0, (uintptr_t)condition, &more, 1);
}

static void woken(const void* condition, const void* mutex, bool signalled) {
  const uint64_t more = (uintptr_t)mutex;
  record_in_order_with(kConditionWoken, signalled, (uintptr_t)condition, &more, 1);
}

// After any error, not only a time-out, the caller holds the mutex again.
#define CONDITION_WAIT(name, Condition, Mutex, parameters, arguments) \
  EXPORTED int name parameters {                                      \
    waiting(condition, mutex);                                        \
    const int result = WAITING(REAL(name) arguments);                \
    woken(condition, mutex, result == 0);                             \
    return result;                                                    \
  }
CONDITION_WAIT(pthread_cond_wait, pthread_cond_t, pthread_mutex_t, (pthread_cond_t * condition, pthread_mutex_t* mutex),
               (condition, mutex))
CONDITION_WAIT(pthread_cond_timedwait, pthread_cond_t, pthread_mutex_t,
               (pthread_cond_t * condition, pthread_mutex_t* mutex, Until until), (condition, mutex, until))
CONDITION_WAIT(pthread_cond_clockwait, pthread_cond_t, pthread_mutex_t,
               (pthread_cond_t * condition, pthread_mutex_t* mutex, clockid_t clock, Until until),
               (condition, mutex, clock, until))
CONDITION_WAIT(cnd_wait, cnd_t, mtx_t, (cnd_t * condition, mtx_t* mutex), (condition, mutex))
CONDITION_WAIT(cnd_timedwait, cnd_t, mtx_t, (cnd_t * condition, mtx_t* mutex, Until until), (condition, mutex, until))

#define CONDITION_SIGNAL(name, Condition, wakes_all)                       \
  EXPORTED int name(Condition* condition) {                                \
    record_in_order(kConditionSignal, wakes_all, (uintptr_t)condition);    \
    return WAKING(REAL(name)(condition));                                  \
  }
CONDITION_SIGNAL(pthread_cond_signal, pthread_cond_t, false)
CONDITION_SIGNAL(pthread_cond_broadcast, pthread_cond_t, true)
CONDITION_SIGNAL(cnd_signal, cnd_t, false)
CONDITION_SIGNAL(cnd_broadcast, cnd_t, true)

static void initialised(const void* semaphore, unsigned value) {
  const uint64_t more = value;
  record_in_order_with(kSemaphoreInit, 0, (uintptr_t)semaphore, &more, 1);
}

EXPORTED int sem_init(sem_t* semaphore, int shared, unsigned value) {
  const int result = REAL(sem_init)(semaphore, shared, value);
  if (result == 0) initialised(semaphore, value);
  return result;
}

EXPORTED sem_t* sem_open(const char* name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const bool creates = (flags & O_CREAT) != 0;
  const unsigned mode = creates ? va_arg(rest, unsigned) : 0;
  const unsigned value = creates ? va_arg(rest, unsigned) : 0;
  va_end(rest);
  sem_t* semaphore = REAL(sem_open)(name, flags, mode, value);
  int now = 0;
  if (semaphore != SEM_FAILED && sem_getvalue(semaphore, &now) == 0) initialised(semaphore, (unsigned)now);
  return semaphore;
}

EXPORTED int sem_post(sem_t* semaphore) {
  record_in_order(kSemaphorePost, 0, (uintptr_t)semaphore);
  return WAKING(REAL(sem_post)(semaphore));
}

static int taken(int result, const sem_t* semaphore) {
  if (result == 0) record_in_order(kSemaphoreWait, 0, (uintptr_t)semaphore);
  return result;
}

EXPORTED int sem_wait(sem_t* semaphore) { return taken(WAITING(REAL(sem_wait)(semaphore)), semaphore); }
EXPORTED int sem_trywait(sem_t* semaphore) { return taken(REAL(sem_trywait)(semaphore), semaphore); }
EXPORTED int sem_timedwait(sem_t* semaphore, Until until) { return taken(WAITING(REAL(sem_timedwait)(semaphore, until)), semaphore); }
EXPORTED int sem_clockwait(sem_t* semaphore, clockid_t clock, Until until) {
  return taken(WAITING(REAL(sem_clockwait)(semaphore, clock, until)), semaphore);
}

EXPORTED int pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes, unsigned parties) {
  const uint64_t more = parties;
  const int result = REAL(pthread_barrier_init)(barrier, attributes, parties);
  if (result == 0) record_in_order_with(kBarrierInit, 0, (uintptr_t)barrier, &more, 1);
  return result;
}

EXPORTED int pthread_barrier_wait(pthread_barrier_t* barrier) {
  record_in_order(kBarrier, 0, (uintptr_t)barrier);
  const int result = WAITING(REAL(pthread_barrier_wait)(barrier));
  record_order();
  return result;
}
