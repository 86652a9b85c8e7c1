// The kernel's tasks as a sleeping lock uses them, for kernel/locking/rwsem.c (docs/kernel-locks.md). Each CPU runs one
// task. While it sleeps, it polls its own state: a wake-up costs the transfer of a line, and no scheduler is charged for.
// Written from the kernel's documentation, as kernel.h is.
#pragma once

#include <linebounce/kernel.h>

#define TASK_RUNNING 0
#define TASK_INTERRUPTIBLE 1
#define TASK_UNINTERRUPTIBLE 2
#define TASK_KILLABLE 0x102
#define BITS_PER_LONG 64
#define HZ 250
#define NSEC_PER_USEC 1000L
#define sched_clock() ((u64)linebounce_clock_ns())
#define jiffies ((unsigned long)linebounce_clock_ns() / (1000000000UL / HZ))
#define time_after(a, b) ((long)((b) - (a)) < 0)
#define EINTR 4
#define ERR_PTR(error) ((void *)(long)(error))
#define IS_ERR(p) ((unsigned long)(p) >= (unsigned long)-4095)
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define data_race(x) (x)
#define fallthrough
#define __must_check
#define __sched

struct lock_class_key {};
struct list_head {
  struct list_head *next, *prev;
};
struct hlist_node {
  struct hlist_node *next, **pprev;
};
struct hlist_head {
  struct hlist_node *first;
};
#define LIST_POISON1 ((void *)0x100)
#define LIST_POISON2 ((void *)0x122)

// ---- checks and helpers that do nothing here ----

#define lockdep_assert_preemption_disabled() do { } while (0)
#define lockdep_assert_held(lock) do { } while (0)
#define might_sleep() do { } while (0)
#define rwsem_acquire(map, subclass, trylock, ip) do { } while (0)
#define rwsem_acquire_read(map, subclass, trylock, ip) do { } while (0)
#define rwsem_acquire_nest(map, subclass, trylock, nest, ip) do { } while (0)
#define rwsem_release(map, ip) do { } while (0)
#define lock_downgrade(map, ip) do { } while (0)
#define LOCK_CONTENDED(sem, try, lock) lock(sem)
#define LOCK_CONTENDED_RETURN(sem, try, lock) lock(sem)
#define DEFINE_GUARD(...)
#define DEFINE_GUARD_COND(...)
#define DEFINE_FREE(...)

// ---- tasks ----

struct task_struct {
  int state, sleeps;
  struct task_struct *wake_next;
};
static DEFINE_PER_CPU_ALIGNED(struct task_struct, linebounce_task);
#define current this_cpu_ptr(&linebounce_task)
#define owner_on_cpu(owner) (!READ_ONCE((owner)->sleeps))
#define rt_task(task) false
#define signal_pending_state(state, task) false
#define get_task_struct(task) ((void)(task))
#define put_task_struct(task) ((void)(task))
#define set_current_state(value) smp_store_mb(current->state, value)
#define __set_current_state(value) WRITE_ONCE(current->state, value)

// Whoever goes on has seen what its waker had: both have held the lock of the run queue, which is not simulated.
static inline __maybe_unused void schedule(void) {
  struct task_struct *const me = current;
  WRITE_ONCE(me->sleeps, 1);
  while (smp_load_acquire(&me->state) != TASK_RUNNING) cpu_relax();
  WRITE_ONCE(me->sleeps, 0);
}
#define schedule_preempt_disabled() schedule()

// Tasks to be woken, linked by wake_next: null for a task that is in no queue.
struct wake_q_head {
  struct task_struct *first, *last;
};
#define LINEBOUNCE_LAST_TASK ((struct task_struct *)1)
#define DEFINE_WAKE_Q(name) struct wake_q_head name = {0, 0}
static inline __maybe_unused void wake_q_init(struct wake_q_head *queue) { queue->first = queue->last = 0; }
static inline __maybe_unused bool wake_q_empty(struct wake_q_head *queue) { return !queue->first; }
static inline __maybe_unused void wake_q_add(struct wake_q_head *queue, struct task_struct *task) {
  smp_mb__before_atomic();
  if (cmpxchg_relaxed(&task->wake_next, (struct task_struct *)0, LINEBOUNCE_LAST_TASK)) return;
  if (queue->last) {
    WRITE_ONCE(queue->last->wake_next, task);
  } else {
    queue->first = task;
  }
  queue->last = task;
}
#define wake_q_add_safe wake_q_add
static inline __maybe_unused void wake_up_q(struct wake_q_head *queue) {
  for (struct task_struct *task = queue->first; task && task != LINEBOUNCE_LAST_TASK;) {
    struct task_struct *const next = READ_ONCE(task->wake_next);
    WRITE_ONCE(task->wake_next, 0);
    smp_mb();
    WRITE_ONCE(task->state, TASK_RUNNING);
    task = next;
  }
}
