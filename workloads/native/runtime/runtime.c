// Linked with every lock in C (sim/native). The compiler's thread-sanitizer instrumentation calls these functions before each
// access that other threads could see, and in the place of each atomic operation. They hand it to the simulator (`link`), which
// has replaced the host's memory with the simulated one: before a plain load it puts the simulated value where the load will
// find it, and what a plain store has written is fetched when the next function here is called.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum Access {
  kRead, kWrite, kLoad, kStore, kExchange, kFetchAdd, kFetchAnd, kFetchOr, kFetchXor, kFetchNand, kCompareExchange,
  kCompareExchangeWeak, kFence
};

struct Hooks {
  uint64_t (*access)(void *call, int access, const volatile void *at, int bytes, int order, uint64_t operand,
                     uint64_t expected, const void *site);
  void (*range)(void *call, int access, const volatile void *at, size_t bytes, const void *site);
  void *(*thread_local_at)(void *call, size_t offset);
  void (*fail)(void *call, const char *what, const void *site);
  int (*machine)(void *call, int what, int argument);
  uint64_t (*now_ns)(void *call);
  void *(*of_cpu)(void *call, void *own, int cpu);
  bool (*fails_weakly)(const void *call);  // the latest weak compare-exchange failed though it found the expected value
  void (*initialises)(const void *object, const void *site);  // an atomic operation of init()
};

#define HIDDEN __attribute__((visibility("hidden")))
#define VISIBLE __attribute__((visibility("default"), used))

// Incremented by code that sim/native puts in the place of `pause`.
HIDDEN unsigned linebounce_pauses;

// Read and written by workloads/native/lock_object.cpp.
struct Link {
  const struct Hooks *hooks;
  void *call;  // the call of the lock that is running; null while the file is loaded, and during init()
  unsigned *pauses;
  const void *sites, *sites_end;
  const void *object;
  const void *lines, *lines_end;  // where lines of the source begin in the code
};
extern const char __start_linebounce_lines[] HIDDEN __attribute__((weak));
extern const char __stop_linebounce_lines[] HIDDEN __attribute__((weak));
extern const char __start_linebounce_sites[] HIDDEN, __stop_linebounce_sites[] HIDDEN;
VISIBLE struct Link linebounce_link = {0, 0, &linebounce_pauses, __start_linebounce_sites, __stop_linebounce_sites, 0,
                                       __start_linebounce_lines, __stop_linebounce_lines};

#define SITE __builtin_return_address(0)
// Puts all registers that survive a call on the stack, where the simulator can compare them.
#define SAVE_REGISTERS() __builtin_unwind_init()

static uint64_t access_at(int access, const volatile void *at, int bytes, int order, uint64_t operand, uint64_t expected,
                          const void *site) {
  return linebounce_link.hooks->access(linebounce_link.call, access, at, bytes, order, operand, expected, site);
}

#define RUNS (linebounce_link.call != 0)

static void initialises(const void *site) {
  if (linebounce_link.hooks) linebounce_link.hooks->initialises(linebounce_link.object, site);
}

// ---- plain and volatile accesses ----

#define PLAIN(name, access, bytes)                                      \
  VISIBLE void name(const volatile void *at) {                          \
    SAVE_REGISTERS();                                                   \
    if (RUNS) {                                                         \
      access_at(access, at, bytes, 0, 0, 0, SITE);                      \
    } else {                                                            \
      initialises(SITE);                                                \
    }                                                                   \
  }
#define PLAIN_PAIR(prefix, bytes)                  \
  PLAIN(__tsan_##prefix##read##bytes, kRead, bytes) \
  PLAIN(__tsan_##prefix##write##bytes, kWrite, bytes)
#define PLAIN_SIZES(prefix) PLAIN_PAIR(prefix, 1) PLAIN_PAIR(prefix, 2) PLAIN_PAIR(prefix, 4) PLAIN_PAIR(prefix, 8)
PLAIN_SIZES()
PLAIN_SIZES(volatile_)

#define RANGE(name, access)                                                          \
  VISIBLE void name(const volatile void *at, size_t bytes) {                         \
    if (RUNS) linebounce_link.hooks->range(linebounce_link.call, access, at, bytes, SITE); \
  }
#define FIXED_RANGE(name, access, bytes)                                             \
  VISIBLE void name(const volatile void *at) {                                       \
    if (RUNS) linebounce_link.hooks->range(linebounce_link.call, access, at, bytes, SITE); \
  }
RANGE(__tsan_read_range, kRead)
RANGE(__tsan_write_range, kWrite)
FIXED_RANGE(__tsan_read16, kRead, 16)
FIXED_RANGE(__tsan_write16, kWrite, 16)
FIXED_RANGE(__tsan_unaligned_read2, kRead, 2)
FIXED_RANGE(__tsan_unaligned_read4, kRead, 4)
FIXED_RANGE(__tsan_unaligned_read8, kRead, 8)
FIXED_RANGE(__tsan_unaligned_read16, kRead, 16)
FIXED_RANGE(__tsan_unaligned_write2, kWrite, 2)
FIXED_RANGE(__tsan_unaligned_write4, kWrite, 4)
FIXED_RANGE(__tsan_unaligned_write8, kWrite, 8)
FIXED_RANGE(__tsan_unaligned_write16, kWrite, 16)

// ---- atomic operations ----

#define FETCH(bits, type, name, access, value, native)                                              \
  VISIBLE type __tsan_atomic##bits##_##name(volatile type *at, type operand, int order) {           \
    if (!RUNS) return initialises(SITE), native(at, operand, __ATOMIC_SEQ_CST);                     \
    return (type)access_at(access, at, bits / 8, order, (type)(value), 0, SITE);                    \
  }

// gcc puts bits for lock elision above the order.
#define BOTH_ORDERS(success, failure) (((success) & 0x7fff) | ((failure) & 0x7fff) << 16)

#define ATOMICS(bits, type)                                                                         \
  VISIBLE type __tsan_atomic##bits##_load(const volatile type *at, int order) {                     \
    SAVE_REGISTERS();                                                                               \
    if (!RUNS) return initialises(SITE), __atomic_load_n(at, __ATOMIC_SEQ_CST);                     \
    return (type)access_at(kLoad, at, bits / 8, order, 0, 0, SITE);                                 \
  }                                                                                                 \
  VISIBLE void __tsan_atomic##bits##_store(volatile type *at, type value, int order) {              \
    if (RUNS) {                                                                                     \
      access_at(kStore, at, bits / 8, order, value, 0, SITE);                                       \
    } else {                                                                                        \
      initialises(SITE);                                                                            \
      __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                \
    }                                                                                               \
  }                                                                                                 \
  FETCH(bits, type, exchange, kExchange, operand, __atomic_exchange_n)                              \
  FETCH(bits, type, fetch_add, kFetchAdd, operand, __atomic_fetch_add)                              \
  FETCH(bits, type, fetch_sub, kFetchAdd, -operand, __atomic_fetch_sub)                             \
  FETCH(bits, type, fetch_and, kFetchAnd, operand, __atomic_fetch_and)                              \
  FETCH(bits, type, fetch_or, kFetchOr, operand, __atomic_fetch_or)                                 \
  FETCH(bits, type, fetch_xor, kFetchXor, operand, __atomic_fetch_xor)                              \
  FETCH(bits, type, fetch_nand, kFetchNand, operand, __atomic_fetch_nand)                           \
  static bool compare_exchange##bits(int access, volatile type *at, type *expected, type desired, int order, \
                                     const void *site) {                                            \
    if (!RUNS) {                                                                                    \
      initialises(site);                                                                            \
      return __atomic_compare_exchange_n(at, expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    }                                                                                               \
    const type wanted = *expected;                                                                  \
    const type seen = (type)access_at(access, at, bits / 8, order, desired, wanted, site);             \
    const bool fails = access == kCompareExchangeWeak && linebounce_link.hooks->fails_weakly(linebounce_link.call); \
    if (seen == wanted && !fails) return true;                                                      \
    linebounce_link.hooks->access(linebounce_link.call, kWrite, expected, bits / 8, 0, 0, 0, 0);    \
    *expected = seen;                                                                               \
    return false;                                                                                   \
  }                                                                                                 \
  VISIBLE int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *expected, type desired, int order, \
                                                            int failure) {                          \
    return compare_exchange##bits(kCompareExchange, at, expected, desired, BOTH_ORDERS(order, failure), SITE); \
  }                                                                                                 \
  VISIBLE int __tsan_atomic##bits##_compare_exchange_weak(volatile type *at, type *expected, type desired, int order, \
                                                          int failure) {                            \
    return compare_exchange##bits(kCompareExchangeWeak, at, expected, desired, BOTH_ORDERS(order, failure), SITE); \
  }                                                                                                 \
  VISIBLE type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected, type desired, int order, \
                                                          int failure) {                            \
    if (RUNS)                                                                                       \
      return (type)access_at(kCompareExchange, at, bits / 8, BOTH_ORDERS(order, failure), desired, expected, SITE); \
    initialises(SITE);                                                                              \
    __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    return expected;                                                                                \
  }

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

VISIBLE void __tsan_atomic_thread_fence(int order) {
  if (RUNS) {
    access_at(kFence, 0, 0, order, 0, 0, SITE);
  } else {
    initialises(SITE);
  }
}
VISIBLE void __tsan_atomic_signal_fence(int order) { (void)order; }

// ---- what the compiler calls besides ----

VISIBLE void __tsan_init(void) {}
VISIBLE void __tsan_func_entry(void *caller) { (void)caller; }
VISIBLE void __tsan_func_exit(void) {}

struct ThreadLocal {
  size_t module, offset;
};
HIDDEN void *__tls_get_addr(const struct ThreadLocal *variable);
HIDDEN void *__tls_get_addr(const struct ThreadLocal *variable) {
  return linebounce_link.hooks->thread_local_at(linebounce_link.call, variable->offset);
}

static void copy_bytes(volatile char *to, const volatile char *from, size_t bytes) {
  if ((uintptr_t)to < (uintptr_t)from) {
    for (size_t i = 0; i < bytes; ++i) to[i] = from[i];
  } else {
    for (size_t i = bytes; i-- > 0;) to[i] = from[i];
  }
}

static void *copy(void *to, const void *from, size_t bytes, const void *site) {
  if (RUNS) linebounce_link.hooks->range(linebounce_link.call, kRead, from, bytes, site);
  if (RUNS) linebounce_link.hooks->range(linebounce_link.call, kWrite, to, bytes, site);
  copy_bytes(to, from, bytes);
  return to;
}

HIDDEN void *memcpy(void *to, const void *from, size_t bytes) { return copy(to, from, bytes, SITE); }
HIDDEN void *memmove(void *to, const void *from, size_t bytes) { return copy(to, from, bytes, SITE); }
HIDDEN void *memset(void *to, int value, size_t bytes) {
  if (RUNS) linebounce_link.hooks->range(linebounce_link.call, kWrite, to, bytes, SITE);
  for (size_t i = 0; i < bytes; ++i) ((volatile char *)to)[i] = (char)value;
  return to;
}
HIDDEN void *__tsan_memcpy(void *to, const void *from, size_t bytes) { return copy(to, from, bytes, SITE); }
HIDDEN void *__tsan_memmove(void *to, const void *from, size_t bytes) { return copy(to, from, bytes, SITE); }
HIDDEN void *__tsan_memset(void *to, int value, size_t bytes) { return memset(to, value, bytes); }

static void fail(const char *what, const void *site) {
  linebounce_link.hooks->fail(linebounce_link.call, what, site);
  __builtin_trap();
}
HIDDEN void abort(void) { fail("calls abort()", SITE); __builtin_unreachable(); }
HIDDEN void __assert_fail(const char *condition, const char *file, unsigned line, const char *function) {
  (void)file, (void)line, (void)function;
  fail(condition, SITE);
}

enum { kCpu, kCpus, kNodeOf, kCacheOf };
HIDDEN int linebounce_cpu(void) { return linebounce_link.hooks->machine(linebounce_link.call, kCpu, 0); }
HIDDEN int linebounce_cpus(void) { return linebounce_link.hooks->machine(linebounce_link.call, kCpus, 0); }
HIDDEN void *linebounce_of_cpu(void *own, int cpu) { return linebounce_link.hooks->of_cpu(linebounce_link.call, own, cpu); }
HIDDEN unsigned linebounce_now_ns(void) { return (unsigned)linebounce_link.hooks->now_ns(linebounce_link.call); }
HIDDEN unsigned long long linebounce_clock_ns(void) { return linebounce_link.hooks->now_ns(linebounce_link.call); }
HIDDEN int linebounce_node_of(int cpu) { return linebounce_link.hooks->machine(linebounce_link.call, kNodeOf, cpu); }
HIDDEN int linebounce_cache_of(int cpu) { return linebounce_link.hooks->machine(linebounce_link.call, kCacheOf, cpu); }

// uintptr_t linebounce_enter(function, lock, top): calls function(lock) with a stack pointer that is a multiple of 64, so that
// local variables share cache lines in the same way in every run, and stores that pointer in *top.
__asm__(
    ".pushsection .text\n"
    ".globl linebounce_enter\n"
    ".type linebounce_enter, @function\n"
    "linebounce_enter:\n"
    ".cfi_startproc\n"
    "pushq %rbp\n"
    ".cfi_def_cfa_offset 16\n"
    ".cfi_offset %rbp, -16\n"
    "movq %rsp, %rbp\n"
    ".cfi_def_cfa_register %rbp\n"
    "andq $-64, %rsp\n"
    "movq %rsp, (%rdx)\n"
    "movq %rdi, %rax\n"
    "movq %rsi, %rdi\n"
    "call *%rax\n"
    "leave\n"
    ".cfi_def_cfa %rsp, 8\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size linebounce_enter, .-linebounce_enter\n"
    ".popsection\n");
