// Locks. An acquisition is recorded after it has succeeded, a release before it happens. So stamps show the order in which
// threads held the lock.
#include <errno.h>

#include "events.h"
#include "real.h"

static int acquired(int result, unsigned type, const volatile void* lock) {
  if (result == 0 && (type & kSharedLock) != 0) this_thread.shares_locks = true;
  if (result == 0 || result == EOWNERDEAD) record_in_order(kAcquire, type, (uintptr_t)lock);
  return result;
}

static int timed(int result, unsigned type, const volatile void* lock) {
  if (result == EBUSY || result == ETIMEDOUT) record_address(kTryFailed, type, lock);
  return acquired(result, type, lock);
}

// Marks the acquisition as a try. A thread may try locks in another order than it waits for them, so in a replay it must not
// wait either.
static int tried(int result, unsigned type, const volatile void* lock) { return timed(result, type | kTriedLock, lock); }

static void releasing(unsigned type, const volatile void* lock) { record_in_order(kRelease, type, (uintptr_t)lock); }

typedef const struct timespec* Until;

#define LOCK(name, type, Type, recorded) \
  EXPORTED int name(Type* lock) { return recorded(WAITING(REAL(name)(lock)), type, lock); }
#define LOCK_UNTIL(name, type, Type) \
  EXPORTED int name(Type* lock, Until until) { return timed(WAITING(REAL(name)(lock, until)), type, lock); }
#define LOCK_BY_CLOCK(name, type, Type) \
  EXPORTED int name(Type* lock, clockid_t clock, Until until) { return timed(WAITING(REAL(name)(lock, clock, until)), type, lock); }
#define UNLOCK(name, type, Type)  \
  EXPORTED int name(Type* lock) { \
    releasing(type, lock);        \
    return WAKING(REAL(name)(lock)); \
  }

// PTHREAD_MUTEX_ADAPTIVE_NP tries for a while before it sleeps; every other kind sleeps at once.
static unsigned mutex_type(const pthread_mutex_t* lock) {
  return lock->__data.__kind == PTHREAD_MUTEX_ADAPTIVE_NP ? kAdaptiveMutex : kMutex;
}

LOCK(pthread_mutex_lock, mutex_type(lock), pthread_mutex_t, acquired)
LOCK(pthread_mutex_trylock, mutex_type(lock), pthread_mutex_t, tried)
LOCK_UNTIL(pthread_mutex_timedlock, mutex_type(lock), pthread_mutex_t)
LOCK_BY_CLOCK(pthread_mutex_clocklock, mutex_type(lock), pthread_mutex_t)
UNLOCK(pthread_mutex_unlock, mutex_type(lock), pthread_mutex_t)

LOCK(pthread_spin_lock, kSpinLock, pthread_spinlock_t volatile, acquired)
LOCK(pthread_spin_trylock, kSpinLock, pthread_spinlock_t volatile, tried)
UNLOCK(pthread_spin_unlock, kSpinLock, pthread_spinlock_t volatile)

enum { kReader = kReadWriteLock | kSharedLock };
LOCK(pthread_rwlock_rdlock, kReader, pthread_rwlock_t, acquired)
LOCK(pthread_rwlock_tryrdlock, kReader, pthread_rwlock_t, tried)
LOCK_UNTIL(pthread_rwlock_timedrdlock, kReader, pthread_rwlock_t)
LOCK_BY_CLOCK(pthread_rwlock_clockrdlock, kReader, pthread_rwlock_t)
LOCK(pthread_rwlock_wrlock, kReadWriteLock, pthread_rwlock_t, acquired)
LOCK(pthread_rwlock_trywrlock, kReadWriteLock, pthread_rwlock_t, tried)
LOCK_UNTIL(pthread_rwlock_timedwrlock, kReadWriteLock, pthread_rwlock_t)
LOCK_BY_CLOCK(pthread_rwlock_clockwrlock, kReadWriteLock, pthread_rwlock_t)
UNLOCK(pthread_rwlock_unlock, kReadWriteLock, pthread_rwlock_t)

// Converts the result of C11's lock functions, which have their own codes.
static int acquired_c11(int result, mtx_t* lock, unsigned type) {
  acquired(result == thrd_success ? 0 : -1, type, lock);
  return result;
}

static int tried_c11(int result, mtx_t* lock, unsigned type) {
  if (result == thrd_busy || result == thrd_timedout) record_address(kTryFailed, kMutex, lock);
  return acquired_c11(result, lock, type);
}

EXPORTED int mtx_lock(mtx_t* lock) { return acquired_c11(WAITING(REAL(mtx_lock)(lock)), lock, kMutex); }
EXPORTED int mtx_trylock(mtx_t* lock) { return tried_c11(WAITING(REAL(mtx_trylock)(lock)), lock, kMutex | kTriedLock); }
EXPORTED int mtx_timedlock(mtx_t* lock, Until until) { return tried_c11(WAITING(REAL(mtx_timedlock)(lock, until)), lock, kMutex); }
UNLOCK(mtx_unlock, kMutex, mtx_t)
