// Threads that are not joined yet, by what the C library calls them.
#pragma once

#include <pthread.h>

#include "runtime.h"

// A pthread_t that comes again is another thread's: the one before was detached.
HIDDEN void remember_thread(pthread_t thread, uint32_t number);
// Its number + 1; 0: not known.
HIDDEN uint32_t known_thread(pthread_t thread);
HIDDEN void forget_thread(uint32_t number_plus_one);
// In a child of fork: whoever held the lock is not there.
HIDDEN void forget_lock_of_threads(void);
