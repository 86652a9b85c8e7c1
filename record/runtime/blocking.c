// Functions of the C library that may wait for something outside the program: a device, another process, the time.
#include <stdio.h>

#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "events.h"
#include "real.h"

#define BLOCKING(Result, name, parameters, arguments)  \
  REPLACEABLE Result name parameters {                 \
    pause_work();                                      \
    Result result = REAL(name) arguments;              \
    restart_blocked_work();                            \
    return result;                                     \
  }

BLOCKING(ssize_t, read, (int file, void* to, size_t bytes), (file, to, bytes))
BLOCKING(ssize_t, write, (int file, const void* from, size_t bytes), (file, from, bytes))
BLOCKING(ssize_t, pread, (int file, void* to, size_t bytes, off_t at), (file, to, bytes, at))
BLOCKING(ssize_t, pwrite, (int file, const void* from, size_t bytes, off_t at), (file, from, bytes, at))
BLOCKING(ssize_t, readv, (int file, const struct iovec* parts, int count), (file, parts, count))
BLOCKING(ssize_t, writev, (int file, const struct iovec* parts, int count), (file, parts, count))
BLOCKING(int, fsync, (int file), (file))
BLOCKING(int, fdatasync, (int file), (file))
BLOCKING(size_t, fread, (void* restrict to, size_t size, size_t count, FILE* restrict file), (to, size, count, file))
BLOCKING(size_t, fwrite, (const void* restrict from, size_t size, size_t count, FILE* restrict file), (from, size, count, file))
BLOCKING(char*, fgets, (char* restrict to, int most, FILE* restrict file), (to, most, file))
BLOCKING(int, fflush, (FILE * file), (file))

BLOCKING(int, connect, (int file, __CONST_SOCKADDR_ARG address, socklen_t bytes), (file, address, bytes))
BLOCKING(int, accept, (int file, __SOCKADDR_ARG address, socklen_t* restrict bytes), (file, address, bytes))
BLOCKING(int, accept4, (int file, __SOCKADDR_ARG address, socklen_t* restrict bytes, int flags), (file, address, bytes, flags))
BLOCKING(ssize_t, recv, (int file, void* to, size_t bytes, int flags), (file, to, bytes, flags))
BLOCKING(ssize_t, recvfrom,
         (int file, void* restrict to, size_t bytes, int flags, __SOCKADDR_ARG address, socklen_t* restrict length),
         (file, to, bytes, flags, address, length))
BLOCKING(ssize_t, recvmsg, (int file, struct msghdr* message, int flags), (file, message, flags))
BLOCKING(ssize_t, send, (int file, const void* from, size_t bytes, int flags), (file, from, bytes, flags))
BLOCKING(ssize_t, sendto,
         (int file, const void* from, size_t bytes, int flags, __CONST_SOCKADDR_ARG address, socklen_t length),
         (file, from, bytes, flags, address, length))
BLOCKING(ssize_t, sendmsg, (int file, const struct msghdr* message, int flags), (file, message, flags))

BLOCKING(int, poll, (struct pollfd * files, nfds_t count, int milliseconds), (files, count, milliseconds))
BLOCKING(int, ppoll, (struct pollfd * files, nfds_t count, const struct timespec* time, const sigset_t* signals),
         (files, count, time, signals))
BLOCKING(int, select,
         (int files, fd_set* restrict reads, fd_set* restrict writes, fd_set* restrict fails, struct timeval* restrict time),
         (files, reads, writes, fails, time))
BLOCKING(int, epoll_wait, (int file, struct epoll_event* events, int most, int milliseconds),
         (file, events, most, milliseconds))

BLOCKING(unsigned, sleep, (unsigned seconds), (seconds))
BLOCKING(int, usleep, (useconds_t microseconds), (microseconds))
BLOCKING(int, nanosleep, (const struct timespec* time, struct timespec* left), (time, left))
BLOCKING(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec* time, struct timespec* left),
         (clock, flags, time, left))
BLOCKING(pid_t, waitpid, (pid_t process, int* status, int options), (process, status, options))

static bool waits_for_threads(long number, long operation) {
  if (number == SYS_sched_yield) return true;
  if (number != SYS_futex) return false;
  operation &= FUTEX_CMD_MASK;
  return operation != FUTEX_WAKE && operation != FUTEX_WAKE_OP && operation != FUTEX_REQUEUE && operation != FUTEX_CMP_REQUEUE;
}

// C++20's semaphores, latches, barriers and std::atomic's wait() call the kernel so.
REPLACEABLE long syscall(long number, ...) {
  enum { kMostArguments = 6 };
  long of_call[kMostArguments];
  va_list arguments;
  va_start(arguments, number);
  for (int i = 0; i < kMostArguments; ++i) of_call[i] = va_arg(arguments, long);
  va_end(arguments);
  pause_work();
  const long result = REAL(syscall)(number, of_call[0], of_call[1], of_call[2], of_call[3], of_call[4], of_call[5]);
  if (waits_for_threads(number, of_call[1])) {
    restart_work();
  } else {
    restart_blocked_work();
  }
  return result;
}

// A thread that yields waits for other threads.
REPLACEABLE int sched_yield(void) {
  pause_work();
  const int result = REAL(sched_yield)();
  restart_work();
  return result;
}
