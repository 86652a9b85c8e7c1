// The kernel's atomic operations, barriers and per-CPU variables, mapped to operations that Linebounce simulates
// (docs/kernel-locks.md). Written from the kernel's documentation of its memory model. `linebounce lock` sets up the other
// headers.
#pragma once

#include <linebounce/lock.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef u64 aligned_u64 __attribute__((aligned(8)));

#define CONFIG_SMP 1
#define CONFIG_NR_CPUS 1024
#define CONFIG_ARCH_USE_CMPXCHG_LOCKREF 1
#define CONFIG_RWSEM_SPIN_ON_OWNER 1
#define SPINLOCK_SIZE 4
#define __LITTLE_ENDIAN 1234
// 1 for an option that is 1 above, 0 for any other: also one that nobody has defined, whose name is then its value.
#define IS_ENABLED(option) LINEBOUNCE_IS_1(option)
#define LINEBOUNCE_IS_1(value) LINEBOUNCE_IS_1_(LINEBOUNCE_IF_##value)
#define LINEBOUNCE_IF_1 0,
#define LINEBOUNCE_IS_1_(pair) LINEBOUNCE_SECOND(pair 1, 0)
#define LINEBOUNCE_SECOND(first, second, ...) second

#undef __always_inline  // of the C library
#define __always_inline inline __attribute__((always_inline))
#define noinline __attribute__((noinline))
#define __pure __attribute__((pure))
#define __maybe_unused __attribute__((unused))
#define __lockfunc
#define __init
#define __acquires(x)
#define __releases(x)
#define __cacheline_aligned __attribute__((aligned(64)))
#define ____cacheline_aligned __attribute__((aligned(64)))
#define ____cacheline_aligned_in_smp __attribute__((aligned(64)))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define EXPORT_SYMBOL(symbol)
#define EXPORT_SYMBOL_GPL(symbol)
#define BUILD_BUG_ON(condition) _Static_assert(!(condition), #condition)
#define BUG_ON(condition) do { if (condition) __builtin_trap(); } while (0)
#define BUG() __builtin_trap()
#define WARN_ON(condition) (condition)
#define WARN_ON_ONCE(condition) (condition)
#define assert_spin_locked(lock) do { } while (0)
#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))

// ---- ordering ----

// Tells the checker that operations with __ATOMIC_SEQ_CST are the kernel's fully ordered ones: a barrier, the operation, and a
// barrier again, but none if a compare-exchange fails.
__attribute__((weak, visibility("default"))) extern const char linebounce_kernel_orders;
__attribute__((weak, visibility("default"))) const char linebounce_kernel_orders = 1;

#define barrier() __asm__ volatile("" ::: "memory")
#define cpu_relax() linebounce_pause()
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile __typeof__(x) *)&(x) = (value))
#define smp_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
#define smp_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_mb__before_atomic() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_mb__after_atomic() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_mb__after_spinlock() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_acquire__after_ctrl_dep() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, value) __atomic_store_n(p, value, __ATOMIC_RELEASE)
#define smp_store_mb(x, value) ((void)__atomic_exchange_n(&(x), value, __ATOMIC_SEQ_CST))

// `condition` is an expression that may use VAL, the loaded value.
#define LINEBOUNCE_COND_LOAD(p, condition, order)                              \
  ({                                                                           \
    __typeof__(__atomic_load_n(p, __ATOMIC_RELAXED)) VAL;                      \
    for (;;) {                                                                 \
      VAL = __atomic_load_n(p, order);                                         \
      if (condition) break;                                                    \
      cpu_relax();                                                             \
    }                                                                          \
    VAL;                                                                       \
  })
#define smp_cond_load_relaxed(p, condition) LINEBOUNCE_COND_LOAD(p, condition, __ATOMIC_RELAXED)
#define smp_cond_load_acquire(p, condition) LINEBOUNCE_COND_LOAD(p, condition, __ATOMIC_ACQUIRE)

#define prefetch(p) ((void)(p))
#define prefetchw(p) ((void)(p))

// ---- exchange and compare-exchange, of 1 to 8 bytes ----

#define LINEBOUNCE_XCHG(p, value, order) __atomic_exchange_n(p, value, order)
#define LINEBOUNCE_CMPXCHG(p, expected, desired, order)                                                     \
  ({                                                                                                        \
    __typeof__(__atomic_load_n(p, __ATOMIC_RELAXED)) linebounce_old = (expected);                           \
    __atomic_compare_exchange_n(p, &linebounce_old, desired, false, order, __ATOMIC_RELAXED);               \
    linebounce_old;                                                                                         \
  })
#define LINEBOUNCE_TRY_CMPXCHG(p, expected, desired, order) \
  __atomic_compare_exchange_n(p, expected, desired, false, order, __ATOMIC_RELAXED)

#define xchg(p, value) LINEBOUNCE_XCHG(p, value, __ATOMIC_SEQ_CST)
#define xchg_relaxed(p, value) LINEBOUNCE_XCHG(p, value, __ATOMIC_RELAXED)
#define xchg_acquire(p, value) LINEBOUNCE_XCHG(p, value, __ATOMIC_ACQUIRE)
#define xchg_release(p, value) LINEBOUNCE_XCHG(p, value, __ATOMIC_RELEASE)
#define cmpxchg(p, old, value) LINEBOUNCE_CMPXCHG(p, old, value, __ATOMIC_SEQ_CST)
#define cmpxchg_relaxed(p, old, value) LINEBOUNCE_CMPXCHG(p, old, value, __ATOMIC_RELAXED)
#define cmpxchg_acquire(p, old, value) LINEBOUNCE_CMPXCHG(p, old, value, __ATOMIC_ACQUIRE)
#define cmpxchg_release(p, old, value) LINEBOUNCE_CMPXCHG(p, old, value, __ATOMIC_RELEASE)
#define cmpxchg64 cmpxchg
#define cmpxchg64_relaxed cmpxchg_relaxed
#define try_cmpxchg(p, old, value) LINEBOUNCE_TRY_CMPXCHG(p, old, value, __ATOMIC_SEQ_CST)
#define try_cmpxchg_relaxed(p, old, value) LINEBOUNCE_TRY_CMPXCHG(p, old, value, __ATOMIC_RELAXED)
#define try_cmpxchg_acquire(p, old, value) LINEBOUNCE_TRY_CMPXCHG(p, old, value, __ATOMIC_ACQUIRE)
#define try_cmpxchg_release(p, old, value) LINEBOUNCE_TRY_CMPXCHG(p, old, value, __ATOMIC_RELEASE)
#define try_cmpxchg64 try_cmpxchg
#define try_cmpxchg64_relaxed try_cmpxchg_relaxed

// ---- atomic_t, atomic_long_t and atomic64_t ----

typedef struct { int counter; } atomic_t;
typedef struct { long counter; } atomic_long_t;
typedef struct { s64 counter; } atomic64_t;
#define ATOMIC_INIT(i) { (i) }
#define ATOMIC_LONG_INIT(i) { (i) }

// The kernel gives full ordering to an operation that returns a value, unless its name ends in _relaxed, _acquire or _release.
// Operations without a result are unordered.
#define LINEBOUNCE_ATOMIC_ORDER(prefix, T, I, suffix, order)                                                              \
  static inline __maybe_unused I prefix##_add_return##suffix(I i, T *v) { return __atomic_add_fetch(&v->counter, i, order); } \
  static inline __maybe_unused I prefix##_sub_return##suffix(I i, T *v) { return __atomic_sub_fetch(&v->counter, i, order); } \
  static inline __maybe_unused I prefix##_inc_return##suffix(T *v) { return __atomic_add_fetch(&v->counter, 1, order); }  \
  static inline __maybe_unused I prefix##_dec_return##suffix(T *v) { return __atomic_sub_fetch(&v->counter, 1, order); }  \
  static inline __maybe_unused I prefix##_fetch_add##suffix(I i, T *v) { return __atomic_fetch_add(&v->counter, i, order); } \
  static inline __maybe_unused I prefix##_fetch_sub##suffix(I i, T *v) { return __atomic_fetch_sub(&v->counter, i, order); } \
  static inline __maybe_unused I prefix##_fetch_inc##suffix(T *v) { return __atomic_fetch_add(&v->counter, 1, order); }   \
  static inline __maybe_unused I prefix##_fetch_dec##suffix(T *v) { return __atomic_fetch_sub(&v->counter, 1, order); }   \
  static inline __maybe_unused I prefix##_fetch_or##suffix(I i, T *v) { return __atomic_fetch_or(&v->counter, i, order); } \
  static inline __maybe_unused I prefix##_fetch_and##suffix(I i, T *v) { return __atomic_fetch_and(&v->counter, i, order); } \
  static inline __maybe_unused I prefix##_fetch_andnot##suffix(I i, T *v) { return __atomic_fetch_and(&v->counter, ~i, order); } \
  static inline __maybe_unused I prefix##_fetch_xor##suffix(I i, T *v) { return __atomic_fetch_xor(&v->counter, i, order); } \
  static inline __maybe_unused I prefix##_xchg##suffix(T *v, I i) { return __atomic_exchange_n(&v->counter, i, order); }  \
  static inline __maybe_unused I prefix##_cmpxchg##suffix(T *v, I old, I i) {                                             \
    return LINEBOUNCE_CMPXCHG(&v->counter, old, i, order);                                                                \
  }                                                                                                                       \
  static inline __maybe_unused bool prefix##_try_cmpxchg##suffix(T *v, I *old, I i) {                                     \
    return LINEBOUNCE_TRY_CMPXCHG(&v->counter, old, i, order);                                                            \
  }

#define LINEBOUNCE_ATOMIC(prefix, T, I)                                                                                  \
  static inline __maybe_unused I prefix##_read(const T *v) { return READ_ONCE(v->counter); }                             \
  static inline __maybe_unused I prefix##_read_acquire(const T *v) { return smp_load_acquire(&v->counter); }             \
  static inline __maybe_unused void prefix##_set(T *v, I i) { WRITE_ONCE(v->counter, i); }                               \
  static inline __maybe_unused void prefix##_set_release(T *v, I i) { smp_store_release(&v->counter, i); }               \
  LINEBOUNCE_ATOMIC_ORDER(prefix, T, I, , __ATOMIC_SEQ_CST)                                                              \
  LINEBOUNCE_ATOMIC_ORDER(prefix, T, I, _relaxed, __ATOMIC_RELAXED)                                                      \
  LINEBOUNCE_ATOMIC_ORDER(prefix, T, I, _acquire, __ATOMIC_ACQUIRE)                                                      \
  LINEBOUNCE_ATOMIC_ORDER(prefix, T, I, _release, __ATOMIC_RELEASE)                                                      \
  static inline __maybe_unused void prefix##_add(I i, T *v) { __atomic_fetch_add(&v->counter, i, __ATOMIC_RELAXED); }    \
  static inline __maybe_unused void prefix##_sub(I i, T *v) { __atomic_fetch_sub(&v->counter, i, __ATOMIC_RELAXED); }    \
  static inline __maybe_unused void prefix##_inc(T *v) { __atomic_fetch_add(&v->counter, 1, __ATOMIC_RELAXED); }         \
  static inline __maybe_unused void prefix##_dec(T *v) { __atomic_fetch_sub(&v->counter, 1, __ATOMIC_RELAXED); }         \
  static inline __maybe_unused void prefix##_or(I i, T *v) { __atomic_fetch_or(&v->counter, i, __ATOMIC_RELAXED); }      \
  static inline __maybe_unused void prefix##_and(I i, T *v) { __atomic_fetch_and(&v->counter, i, __ATOMIC_RELAXED); }    \
  static inline __maybe_unused void prefix##_andnot(I i, T *v) { __atomic_fetch_and(&v->counter, ~i, __ATOMIC_RELAXED); } \
  static inline __maybe_unused bool prefix##_dec_and_test(T *v) {                                                        \
    return __atomic_sub_fetch(&v->counter, 1, __ATOMIC_SEQ_CST) == 0;                                                    \
  }

LINEBOUNCE_ATOMIC(atomic, atomic_t, int)
LINEBOUNCE_ATOMIC(atomic_long, atomic_long_t, long)
LINEBOUNCE_ATOMIC(atomic64, atomic64_t, s64)
#define atomic_cond_read_relaxed(v, condition) smp_cond_load_relaxed(&(v)->counter, condition)
#define atomic_cond_read_acquire(v, condition) smp_cond_load_acquire(&(v)->counter, condition)
#define atomic_long_cond_read_relaxed(v, condition) smp_cond_load_relaxed(&(v)->counter, condition)
#define atomic_long_cond_read_acquire(v, condition) smp_cond_load_acquire(&(v)->counter, condition)

// ---- CPUs ----

#define DECLARE_PER_CPU(type, name) extern _Thread_local __typeof__(type) name
#define DEFINE_PER_CPU(type, name) _Thread_local __typeof__(type) name
#define DEFINE_PER_CPU_ALIGNED(type, name) _Thread_local _Alignas(64) __typeof__(type) name
#define DEFINE_PER_CPU_SHARED_ALIGNED(type, name) _Thread_local _Alignas(64) __typeof__(type) name
#define this_cpu_ptr(p) (p)
#define raw_cpu_ptr(p) (p)
#define per_cpu_ptr(p, cpu) ((__typeof__(p))linebounce_of_cpu((void *)(p), cpu))
#define per_cpu(variable, cpu) (*per_cpu_ptr(&(variable), cpu))
#define this_cpu_read(variable) (variable)
#define this_cpu_write(variable, value) ((variable) = (value))
#define this_cpu_inc(variable) ((void)++(variable))
#define this_cpu_dec(variable) ((void)--(variable))
#define __this_cpu_inc(variable) ((void)++(variable))
#define __this_cpu_dec(variable) ((void)--(variable))
#define smp_processor_id() linebounce_cpu()
#define raw_smp_processor_id() linebounce_cpu()
#define nr_cpu_ids ((unsigned)linebounce_cpus())
#define cpu_to_node(cpu) linebounce_node_of(cpu)
#define numa_node_id() linebounce_node_of(linebounce_cpu())
#define cpus_share_cache(one, other) (linebounce_cache_of(one) == linebounce_cache_of(other))

#define preempt_disable() barrier()
#define preempt_enable() barrier()
#define need_resched() false
#define in_interrupt() false
#define in_nmi() false
#define in_task() true
#define vcpu_is_preempted(cpu) false
#define virt_spin_lock(lock) false

#define LCB_F_SPIN 1
#define LCB_F_READ 2
#define LCB_F_WRITE 4
#define trace_contention_begin(lock, flags) do { } while (0)
#define trace_contention_end(lock, result) do { } while (0)
