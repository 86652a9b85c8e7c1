// Threads that are not joined yet, by their pthread_t.
#pragma once

#include <pthread.h>

#include "runtime.h"

// A pthread_t that recurs belongs to another thread, because the earlier one was detached.
HIDDEN void remember_thread(pthread_t thread, uint32_t number);
// The thread's number + 1; 0: unknown.
HIDDEN uint32_t known_thread(pthread_t thread);
HIDDEN void forget_thread(uint32_t number_plus_one);
// Called in a child of fork, where the lock's holder does not exist.
HIDDEN void forget_lock_of_threads(void);
