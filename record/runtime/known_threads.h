// Threads that are not joined yet, by their pthread_t.
#pragma once

#include <pthread.h>

#include "runtime.h"

// Replaces an earlier entry with the same pthread_t: that thread was detached, and its pthread_t reused.
HIDDEN void remember_thread(pthread_t thread, uint32_t number);
// The thread's number + 1; 0: unknown.
HIDDEN uint32_t known_thread(pthread_t thread);
HIDDEN void forget_thread(uint32_t number_plus_one);
// Called in a forked child, in which the thread that held the lock does not exist.
HIDDEN void forget_lock_of_threads(void);
