// Atomic operations on 16 bytes, with cmpxchg16b (compiled with -mcx16). Simulated words have at most 8 bytes, so the collector
// turns each into an atomic operation on the first half and a plain access to the second.
#include "events.h"

__extension__ typedef unsigned __int128 Wide;

static bool compare_exchange(volatile Wide* word, Wide* expected, Wide desired) {
  const Wide before = __sync_val_compare_and_swap(word, *expected, desired);
  const bool done = before == *expected;
  *expected = before;
  return done;
}

static void record_wide(unsigned kind, bool done, const volatile Wide* word) {
  record_address(kind, 4 | kAtomicAccess | (done ? 0 : kFailedAccess), word);
  record_order();
}

EXPORTED Wide __tsan_atomic128_load(const volatile Wide* word, int order);
Wide __tsan_atomic128_load(const volatile Wide* word, int order) {
  (void)order;
  Wide value = 0;
  compare_exchange((volatile Wide*)word, &value, 0);
  record_wide(kLoad, true, word);
  return value;
}

#define READ_MODIFY_WRITE(name, kind, result)                                                \
  EXPORTED Wide __tsan_atomic128_##name(volatile Wide* word, Wide operand, int order);       \
  Wide __tsan_atomic128_##name(volatile Wide* word, Wide operand, int order) {               \
    (void)order;                                                                             \
    record_order();                                                                          \
    Wide before = 0;                                                                         \
    while (!compare_exchange(word, &before, result)) {                                       \
    }                                                                                        \
    record_wide(kind, true, word);                                                           \
    return before;                                                                           \
  }
READ_MODIFY_WRITE(exchange, kExchange, operand)
READ_MODIFY_WRITE(fetch_add, kFetchAdd, before + operand)
READ_MODIFY_WRITE(fetch_sub, kFetchAdd, before - operand)
READ_MODIFY_WRITE(fetch_and, kFetchAdd, before& operand)
READ_MODIFY_WRITE(fetch_or, kFetchAdd, before | operand)
READ_MODIFY_WRITE(fetch_xor, kFetchAdd, before ^ operand)
READ_MODIFY_WRITE(fetch_nand, kFetchAdd, ~(before & operand))

EXPORTED void __tsan_atomic128_store(volatile Wide* word, Wide value, int order);
void __tsan_atomic128_store(volatile Wide* word, Wide value, int order) { __tsan_atomic128_exchange(word, value, order); }

static int recorded_compare_exchange(volatile Wide* word, Wide* expected, Wide desired) {
  record_order();
  const bool done = compare_exchange(word, expected, desired);
  record_wide(kCompareExchange, done, word);
  return done;
}

EXPORTED int __tsan_atomic128_compare_exchange_strong(volatile Wide*, Wide*, Wide, int, int);
int __tsan_atomic128_compare_exchange_strong(volatile Wide* word, Wide* expected, Wide desired, int order, int failure) {
  (void)order, (void)failure;
  return recorded_compare_exchange(word, expected, desired);
}

EXPORTED int __tsan_atomic128_compare_exchange_weak(volatile Wide*, Wide*, Wide, int, int);
int __tsan_atomic128_compare_exchange_weak(volatile Wide* word, Wide* expected, Wide desired, int order, int failure) {
  (void)order, (void)failure;
  return recorded_compare_exchange(word, expected, desired);
}

EXPORTED Wide __tsan_atomic128_compare_exchange_val(volatile Wide*, Wide, Wide, int, int);
Wide __tsan_atomic128_compare_exchange_val(volatile Wide* word, Wide expected, Wide desired, int order, int failure) {
  (void)order, (void)failure;
  recorded_compare_exchange(word, &expected, desired);
  return expected;
}
