// Atomic operations. A stamp is written after an acquisition and before a release, so that the collector can order accesses on
// both sides of a hand-off. Every operation is executed as sequentially consistent, which is at least as strong as requested.
#include "events.h"

typedef enum { kRelaxed, kConsume, kAcquireOrder, kReleaseOrder, kAcquireRelease, kSequential } MemoryOrder;

static inline bool acquires(int order) {
  order &= 0x7fff;  // removes gcc's hints for lock elision
  return order != kRelaxed && order != kReleaseOrder;
}

static inline bool releases(int order) { return (order & 0x7fff) >= kReleaseOrder; }

static inline void order_if(bool wanted) {
  if (wanted) record_order();
}

static inline void order_after_if(bool wanted) {
  if (wanted) record_order_of_access();
}

#define LOAD_AND_STORE(bits, logarithm, type)                                                    \
  EXPORTED type __tsan_atomic##bits##_load(const volatile type* word, int order);                \
  type __tsan_atomic##bits##_load(const volatile type* word, int order) {                        \
    const type value = __atomic_load_n(word, __ATOMIC_SEQ_CST);                                  \
    const unsigned pointer = (logarithm) == 3 ? pointer_flag(word, 1) : 0;                        \
    record_address(kLoad, logarithm | kAtomicAccess | pointer, word);                            \
    order_after_if(acquires(order));                                                                   \
    return value;                                                                                \
  }                                                                                              \
  EXPORTED void __tsan_atomic##bits##_store(volatile type* word, type value, int order);         \
  void __tsan_atomic##bits##_store(volatile type* word, type value, int order) {                 \
    order_if(releases(order));                                                                   \
    const bool exchanges = (order & 0x7fff) == kSequential;                                      \
    const unsigned plain = kAtomicAccess | (releases(order) ? kReleaseAccess : 0);               \
    record_address(exchanges ? kExchange : kStore, logarithm | plain, word);                     \
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);                                             \
    restart_work();                                                                              \
  }

#define EXCHANGE(bits, logarithm, type)                                                          \
  EXPORTED type __tsan_atomic##bits##_exchange(volatile type* word, type desired, int order);    \
  type __tsan_atomic##bits##_exchange(volatile type* word, type desired, int order) {            \
    order_if(releases(order));                                                                   \
    pause_work();                                                                                \
    const type before = __atomic_exchange_n(word, desired, __ATOMIC_SEQ_CST);                    \
    restart_work();                                                                              \
    record_address(kExchange, logarithm | kAtomicAccess, word);                                  \
    order_after_if(acquires(order));                                                                   \
    return before;                                                                               \
  }

// Records the return address as well: the collector examines the code there to see whether the program uses the result.
#define READ_MODIFY_WRITE(bits, logarithm, type, name, sign, function)                           \
  EXPORTED type __tsan_atomic##bits##_##name(volatile type* word, type operand, int order);      \
  type __tsan_atomic##bits##_##name(volatile type* word, type operand, int order) {              \
    order_if(releases(order));                                                                   \
    pause_work();                                                                                \
    const type before = function(word, operand, __ATOMIC_SEQ_CST);                               \
    restart_work();                                                                              \
    const bool negative = (operand >> (bits - 1)) != 0;                                          \
    const uint64_t caller = (uintptr_t)__builtin_return_address(0);                              \
    record_with(kFetchAddAt, logarithm | kAtomicAccess | (sign), (uintptr_t)word, &caller, 1);   \
    order_after_if(acquires(order));                                                                   \
    return before;                                                                               \
  }

#define COMPARE_EXCHANGE(bits, logarithm, type)                                                                          \
  static inline bool compare_exchange##bits(volatile type* word, type* expected, type desired, int order) {              \
    order_if(releases(order));                                                                                           \
    const type change = (type)(desired - *expected);                                                                     \
    const unsigned sign = change == 1 ? kAddsAccess : change == (type)-1 ? kSubtractsAccess : 0;                         \
    pause_work();                                                                                                        \
    const bool done = __atomic_compare_exchange_n(word, expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);   \
    restart_work();                                                                                                      \
    record_address(kCompareExchange, logarithm | kAtomicAccess | (done ? sign : kFailedAccess), word);                   \
    order_after_if(acquires(order));                                                                                           \
    return done;                                                                                                         \
  }                                                                                                                      \
  EXPORTED int __tsan_atomic##bits##_compare_exchange_strong(volatile type*, type*, type, int, int);                     \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type* word, type* expected, type desired, int order,        \
                                                    int failure) {                                                       \
    (void)failure;                                                                                                       \
    return compare_exchange##bits(word, expected, desired, order);                                                       \
  }                                                                                                                      \
  EXPORTED int __tsan_atomic##bits##_compare_exchange_weak(volatile type*, type*, type, int, int);                       \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type* word, type* expected, type desired, int order,          \
                                                  int failure) {                                                         \
    (void)failure;                                                                                                       \
    return compare_exchange##bits(word, expected, desired, order);                                                       \
  }                                                                                                                      \
  EXPORTED type __tsan_atomic##bits##_compare_exchange_val(volatile type*, type, type, int, int);                        \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type* word, type expected, type desired, int order,           \
                                                  int failure) {                                                         \
    (void)failure;                                                                                                       \
    compare_exchange##bits(word, &expected, desired, order);                                                             \
    return expected;                                                                                                     \
  }

#define UP (negative ? kSubtractsAccess : kAddsAccess)
#define DOWN (negative ? kAddsAccess : kSubtractsAccess)
#define NO_SUM ((void)negative, kAddsAccess | kSubtractsAccess)

#define ATOMICS(bits, logarithm, type)                                                        \
  LOAD_AND_STORE(bits, logarithm, type)                                                       \
  EXCHANGE(bits, logarithm, type)                                                             \
  READ_MODIFY_WRITE(bits, logarithm, type, fetch_add, UP, __atomic_fetch_add)                 \
  READ_MODIFY_WRITE(bits, logarithm, type, fetch_sub, DOWN, __atomic_fetch_sub)               \
  READ_MODIFY_WRITE(bits, logarithm, type, fetch_and, NO_SUM, __atomic_fetch_and)             \
  READ_MODIFY_WRITE(bits, logarithm, type, fetch_or, NO_SUM, __atomic_fetch_or)               \
  READ_MODIFY_WRITE(bits, logarithm, type, fetch_xor, NO_SUM, __atomic_fetch_xor)             \
  READ_MODIFY_WRITE(bits, logarithm, type, fetch_nand, NO_SUM, __atomic_fetch_nand)           \
  COMPARE_EXCHANGE(bits, logarithm, type)

ATOMICS(8, 0, uint8_t)
ATOMICS(16, 1, uint16_t)
ATOMICS(32, 2, uint32_t)
ATOMICS(64, 3, uint64_t)

EXPORTED void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order) {
  order_if(releases(order));
  if (order == kSequential) record(kFence, 0, 0);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  order_after_if(acquires(order));
}

EXPORTED void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order) {
  (void)order;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
