#include "events.h"

#include <unistd.h>

void record_with(unsigned kind, unsigned detail, uint64_t value, const uint64_t* more, unsigned count) {
  struct Ring* ring = this_ring();
  uint64_t at;
  if (ring == NULL) return;
  note_work(ring, RETURN_ADDRESS);
  if (!reserve_words(ring, 1 + count, &at)) return;
  fill_event(ring, at, event_word(kind, detail, value), more, count);
  end_event(NULL);
}

// Threads wait for each other's stamps as they do for no word of the program, so that the wait is not the program's.
void record_order(void) {
  struct Ring* ring = this_ring();
  if (ring == NULL) return;
  note_work(ring, RETURN_ADDRESS);
  write_stamp(ring);
  restart_work();
}

void record_order_of_access(void) {
  const bool samples = drop_sample();
  record_order();
  if (samples) begin_sample(NULL);
}

void record_in_order(unsigned kind, unsigned detail, uint64_t value) {
  record_in_order_with(kind, detail, value, NULL, 0);
}

void record_in_order_with(unsigned kind, unsigned detail, uint64_t value, const uint64_t* more, unsigned count) {
  struct Ring* ring = this_ring();
  if (ring == NULL) return;
  note_work(ring, RETURN_ADDRESS);
  write_in_order(ring, event_word(kind, detail, value), more, count);
  restart_work();
  end_event(NULL);
}

// On x86-64, Linux places position-independent programs and their heaps at addresses from 0x55... on (the bits above kTopBits),
// and libraries and mappings from 0x7e... to 0x7f.... A program with fixed addresses begins at 4 MiB, followed by its heap.
bool is_address(uint64_t word) {
  enum { kTopBits = 40, kFixedProgram = 0x400000 };
  const uint64_t top = word >> kTopBits;
  if (top != 0) return top == 0x55 || top == 0x56 || top == 0x7e || top == 0x7f;
  return word >= kFixedProgram && word < (uintptr_t)sbrk(0) && (uintptr_t)sbrk(0) >> kTopBits == 0;
}

void record_range(unsigned kind, const volatile void* address, size_t bytes) {
  const uint64_t more = bytes;
  // Examines only the first 512 bytes of a copied structure, where pointers are most likely.
  enum { kMostWords = 64 };
  const size_t words = bytes / sizeof(uint64_t) < kMostWords ? bytes / sizeof(uint64_t) : kMostWords;
  const unsigned flags = kind == kLoadRange ? pointer_flag(address, (unsigned)words) : 0;
  if (bytes != 0) record_with(kind, flags, (uintptr_t)address, &more, 1);
}
