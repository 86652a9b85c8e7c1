// Counts of two threads, which lie in one line. CURED: each has its own.
#pragma once

#include <stdalign.h>
#include <stdatomic.h>

#include "two_threads.h"

struct counts {
#ifdef CURED
  alignas(64)
#endif
      atomic_long requests;
};

static alignas(64) struct counts counts[2];
