#include "events.h"

void record_with(unsigned kind, unsigned detail, uint64_t value, const uint64_t* more, unsigned count) {
  struct Ring* ring = this_ring();
  uint64_t at;
  if (ring == NULL || !reserve_words(ring, 1 + count, &at)) return;
  fill_event(ring, at, event_word(kind, detail, value), more, count);
}

void record_order(void) {
  struct Ring* ring = this_ring();
  if (ring != NULL) write_stamp(ring);
}

void record_in_order(unsigned kind, unsigned detail, uint64_t value) {
  record_in_order_with(kind, detail, value, NULL, 0);
}

void record_in_order_with(unsigned kind, unsigned detail, uint64_t value, const uint64_t* more, unsigned count) {
  struct Ring* ring = this_ring();
  if (ring != NULL) write_in_order(ring, event_word(kind, detail, value), more, count);
}

void record_range(unsigned kind, const volatile void* address, size_t bytes) {
  const uint64_t more = bytes;
  if (bytes != 0) record_with(kind, 0, (uintptr_t)address, &more, 1);
}
