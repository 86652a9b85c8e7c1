#include "ring.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "real.h"
#include "work_clock.h"

static uint64_t take_stamp(void) {
  return __atomic_fetch_add(&channel->stamp, 1, __ATOMIC_SEQ_CST);
}

void fill_event(struct Ring* ring, uint64_t at, uint64_t first, const uint64_t* more, unsigned count) {
  for (unsigned i = 0; i < count; ++i) fill_word(ring, at + 1 + i, event_word(kMore, 0, more[i]));
  fill_word(ring, at, first);
}

// Writes a stamp. All other rings wait for a stamp that is taken but not written. So nothing may block in between, and the room
// is reserved first.
void write_stamp(struct Ring* ring) {
  uint64_t at;
  if (reserve_words(ring, 1, &at)) fill_word(ring, at, event_word(kOrder, 0, take_stamp()));
}

void write_in_order(struct Ring* ring, uint64_t first, const uint64_t* more, unsigned count) {
  uint64_t at;
  if (!reserve_words(ring, 2 + count, &at)) return;
  fill_event(ring, at + 1, first, more, count);
  fill_word(ring, at, event_word(kOrder, 0, take_stamp()));
}

// Whether the collector has ended. Sending it a signal would not tell: until its parent has collected its exit code, a dead
// process still accepts signals, and its parent may be waiting for this program. A process descriptor tells, from Linux 5.3 on.
// Older kernels fall back to a signal.
bool collector_is_gone(void) {
  const int process = (int)REAL(syscall)(SYS_pidfd_open, channel->collector, 0);
  if (process < 0) return REAL(syscall)(SYS_kill, channel->collector, 0) != 0 && errno == ESRCH;
  struct pollfd end = {process, POLLIN, 0};
  const struct timespec at_once = {0, 0};
  const bool has_ended = REAL(syscall)(SYS_ppoll, &end, 1, &at_once, NULL, 0) == 1;
  REAL(syscall)(SYS_close, process);
  return has_ended;
}

// Detects a deadlock: the collector has emptied the ring, but its next word is still unfilled. Then this thread itself has
// reserved that word, and a signal handler that interrupted it is now waiting for room.
struct Standstill {
  uint64_t taken;
  uint32_t round;
};

static bool waits_for_itself(const struct Ring* ring, struct Standstill* last) {
  const uint32_t round = __atomic_load_n(&channel->rounds, __ATOMIC_ACQUIRE);
  const uint64_t taken = __atomic_load_n(&ring->taken, __ATOMIC_ACQUIRE);
  const bool is_empty = __atomic_load_n(&ring->words[taken & ring_mask], __ATOMIC_ACQUIRE) == 0;
  // Two rounds have ended since the last check, so at least one of them began after it.
  if (is_empty && taken == last->taken) return round - last->round >= 2;
  *last = (struct Standstill){is_empty ? taken : UINT64_MAX, round};
  return false;
}

static bool gives_up(const struct Ring* ring, unsigned tries, struct Standstill* last) {
  if (waits_for_itself(ring, last)) {
    // Counts the thread once, even if nested handlers give up.
    if (this_thread.ring == ring) __atomic_fetch_add(&channel->given_up, 1, __ATOMIC_RELAXED);
    return true;
  }
  if (tries % 1024 != 1023 || !collector_is_gone()) return false;
  recording = false;
  return true;
}

bool wait_for_room(struct Ring* ring, uint64_t end) {
  if (this_thread.ring != ring) return false;  // a nested signal handler has given up the ring
  const int error = errno;
  const struct timespec pause = {0, 50 * 1000};
  struct Standstill last = {UINT64_MAX, 0};
  bool has_room = true;
  uint64_t limit = 0;
  for (unsigned tries = 0; has_room && end > (limit = __atomic_load_n(&ring->taken, __ATOMIC_ACQUIRE) + ring_mask + 1); ++tries) {
    REAL(syscall)(SYS_nanosleep, &pause, NULL);
    has_room = !gives_up(ring, tries, &last);
  }
  if (has_room) {
    ring->limit = limit;
  } else {
    this_thread.ring = NULL;
  }
  restart_work();
  errno = error;
  return has_room;
}
