// The functions that the runtime replaces: the C library's, or those of an allocator in another library.
#pragma once

#include <dlfcn.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

// Each is looked up by its name, as the next definition after the program's.
#define REAL_FUNCTIONS(X)                                                                                                  \
  X(pthread_create) X(pthread_join) X(pthread_tryjoin_np) X(pthread_timedjoin_np)                                           \
  X(pthread_mutex_lock) X(pthread_mutex_trylock) X(pthread_mutex_timedlock) X(pthread_mutex_clocklock)                      \
  X(pthread_mutex_unlock) X(pthread_spin_lock) X(pthread_spin_trylock) X(pthread_spin_unlock)                               \
  X(pthread_rwlock_rdlock) X(pthread_rwlock_tryrdlock) X(pthread_rwlock_timedrdlock) X(pthread_rwlock_clockrdlock)          \
  X(pthread_rwlock_wrlock) X(pthread_rwlock_trywrlock) X(pthread_rwlock_timedwrlock) X(pthread_rwlock_clockwrlock)          \
  X(pthread_rwlock_unlock) X(pthread_cond_clockwait) X(pthread_barrier_init) X(pthread_barrier_wait)                        \
  X(sem_init) X(sem_open) X(sem_post) X(sem_wait) X(sem_trywait) X(sem_timedwait) X(sem_clockwait)                          \
  X(thrd_create) X(thrd_join) X(mtx_lock) X(mtx_trylock) X(mtx_timedlock) X(mtx_unlock)                                     \
  X(cnd_wait) X(cnd_timedwait) X(cnd_signal) X(cnd_broadcast)                                                               \
  X(malloc) X(calloc) X(realloc) X(memalign) X(aligned_alloc) X(posix_memalign) X(valloc) X(pvalloc)                        \
  X(malloc_usable_size) X(free) X(clone)                                                                                   \
  X(dlopen) X(madvise) X(mmap) X(mmap64) X(munmap) X(mremap) X(memcpy) X(memmove) X(memset) X(memcmp) X(memchr)            \
  X(strlen) X(strcpy) X(strncpy) X(strcat) X(strcmp) X(strncmp) X(strchr) X(strrchr)                                       \
  X(read) X(write) X(pread) X(pwrite) X(readv) X(writev) X(fsync) X(fdatasync) X(fread) X(fwrite) X(fgets) X(fflush)        \
  X(connect) X(accept) X(accept4) X(recv) X(recvfrom) X(recvmsg) X(send) X(sendto) X(sendmsg)                              \
  X(poll) X(ppoll) X(select) X(epoll_wait) X(sleep) X(usleep) X(nanosleep) X(clock_nanosleep) X(waitpid) X(sched_yield) X(syscall)
// Looked up with their version, because glibc also has older versions that wait differently.
#define REAL_CONDITIONS(X) X(pthread_cond_wait) X(pthread_cond_timedwait) X(pthread_cond_signal) X(pthread_cond_broadcast)

#ifdef LINEBOUNCE_FOLLOWER
// QEMU's plugin replaces none.
#define REAL(name) name
#else
// Which may be called before the runtime has started, by the constructors of a library that starts even earlier.
#define REAL(name) (__builtin_expect(real_##name != NULL, 1) ? real_##name : (find_real_functions(), real_##name))
#endif

#define DECLARE_REAL(name) extern __attribute__((visibility("hidden"))) __typeof__(&name) real_##name;
REAL_FUNCTIONS(DECLARE_REAL)
REAL_CONDITIONS(DECLARE_REAL)

// Allocates apart from the program's heap.
__attribute__((visibility("hidden"))) void find_real_functions(void);
