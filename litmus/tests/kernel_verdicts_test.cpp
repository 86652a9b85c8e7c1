// Verdicts of the Linux kernel's model. Facts: tools/memory-model/Documentation of Linux 6.1 (explanation.txt, recipes.txt and
// ordering.txt); the shapes are our own.
#include "litmus/tests/shape.hpp"

namespace linebounce::sim::litmus {
namespace {

constexpr Says kKernelNothingEnds = Says::nothing_ends;
constexpr std::string_view kKernelWriter = "WRITE_ONCE(*a, 1); smp_wmb(); WRITE_ONCE(*b, 1);";
constexpr std::string_view kKernelSeen = "1:r0=1 /\\ 1:r1=0";
constexpr std::string_view kKernelMissed = "0:r0=0 /\\ 1:r0=0";
constexpr std::string_view kKernelBoth = "0:r0=1 /\\ 1:r0=1";

const std::vector<Shape>& kernel_shapes() {
  static const std::vector<Shape> kShapes = {
      // A message a and its flag b.
      {"Marked accesses alone are not ordered",
       {"WRITE_ONCE(*a, 1); WRITE_ONCE(*b, 1);", "r0 = READ_ONCE(*b); r1 = READ_ONCE(*a);"},
       kKernelSeen,
       kAllowed},
      {"Barriers for stores and loads",
       {kKernelWriter, "r0 = READ_ONCE(*b); smp_rmb(); r1 = READ_ONCE(*a);"},
       kKernelSeen,
       kForbidden},
      {"smp_wmb() does not order loads",
       {kKernelWriter, "r0 = READ_ONCE(*b); smp_wmb(); r1 = READ_ONCE(*a);"},
       kKernelSeen,
       kAllowed},
      {"Release and acquire",
       {"WRITE_ONCE(*a, 1); smp_store_release(b, 1);", "r0 = smp_load_acquire(b); r1 = READ_ONCE(*a);"},
       kKernelSeen,
       kForbidden},
      {"An `if` does not order loads",
       {kKernelWriter, "r0 = READ_ONCE(*b); if (r0) r1 = READ_ONCE(*a);"},
       kKernelSeen,
       kAllowed},
      {"A pointer orders the load through it",
       {"WRITE_ONCE(*a, 1); rcu_assign_pointer(*p, a);", "int *q; q = rcu_dereference(*p); r1 = READ_ONCE(*q);"},
       "1:q=a /\\ 1:r1=0",
       kForbidden,
       "int *p = &c; int c = 7;"},
      {"A critical section passes its data on",
       {"spin_lock(l); WRITE_ONCE(*a, 1); WRITE_ONCE(*b, 1); spin_unlock(l);",
        "spin_lock(l); r0 = READ_ONCE(*b); r1 = READ_ONCE(*a); spin_unlock(l);"},
       kKernelSeen,
       kForbidden},
      {"A lock on one side is not enough",
       {"spin_lock(l); WRITE_ONCE(*a, 1); WRITE_ONCE(*b, 1); spin_unlock(l);", "r0 = READ_ONCE(*b); r1 = READ_ONCE(*a);"},
       kKernelSeen,
       kAllowed},
      {"Two critical sections of a CPU keep their order, of two locks even",
       {kKernelWriter, "spin_lock(l); r0 = READ_ONCE(*b); spin_unlock(l); spin_lock(m); r1 = READ_ONCE(*a); spin_unlock(m);"},
       kKernelSeen,
       kForbidden},
      {"A release and an acquire in place of the locks do not",
       {kKernelWriter, "r0 = READ_ONCE(*b); smp_store_release(c, 1); r2 = smp_load_acquire(c); r1 = READ_ONCE(*a);"},
       kKernelSeen,
       kAllowed},
      // Store buffering.
      {"Loads pass stores",
       {"WRITE_ONCE(*a, 1); r0 = READ_ONCE(*b);", "WRITE_ONCE(*b, 1); r0 = READ_ONCE(*a);"},
       kKernelMissed,
       kAllowed},
      {"smp_mb() stops that",
       {"WRITE_ONCE(*a, 1); smp_mb(); r0 = READ_ONCE(*b);", "smp_store_mb(*b, 1); r0 = READ_ONCE(*a);"},
       kKernelMissed,
       kForbidden},
      {"Release and acquire do not",
       {"smp_store_release(a, 1); r0 = smp_load_acquire(b);", "smp_store_release(b, 1); r0 = smp_load_acquire(a);"},
       kKernelMissed,
       kAllowed},
      {"xchg() is a full barrier",
       {"r1 = xchg(a, 1); r0 = READ_ONCE(*b);", "r1 = xchg(b, 1); r0 = READ_ONCE(*a);"},
       kKernelMissed,
       kForbidden},
      {"xchg_relaxed() is none",
       {"r1 = xchg_relaxed(a, 1); r0 = READ_ONCE(*b);", "r1 = xchg_relaxed(b, 1); r0 = READ_ONCE(*a);"},
       kKernelMissed,
       kAllowed},
      {"atomic_inc() orders nothing",
       {"atomic_inc(a); r0 = READ_ONCE(*b);", "atomic_inc(b); r0 = READ_ONCE(*a);"},
       kKernelMissed,
       kAllowed},
      {"smp_mb__after_atomic() makes it a barrier",
       {"atomic_inc(a); smp_mb__after_atomic(); r0 = READ_ONCE(*b);",
        "atomic_inc(b); smp_mb__after_atomic(); r0 = READ_ONCE(*a);"},
       kKernelMissed,
       kForbidden},
      {"cmpxchg() that fails is no barrier",
       {"WRITE_ONCE(*a, 1); r1 = cmpxchg(c, 5, 6); r0 = READ_ONCE(*b);", "WRITE_ONCE(*b, 1); smp_mb(); r0 = READ_ONCE(*a);"},
       kKernelMissed,
       kAllowed},
      {"cmpxchg() that succeeds is one",
       {"WRITE_ONCE(*a, 1); r1 = cmpxchg(c, 0, 6); r0 = READ_ONCE(*b);", "WRITE_ONCE(*b, 1); smp_mb(); r0 = READ_ONCE(*a);"},
       kKernelMissed,
       kForbidden},
      {"synchronize_rcu() is a barrier, too",
       {"WRITE_ONCE(*a, 1); synchronize_rcu(); r0 = READ_ONCE(*b);", "WRITE_ONCE(*b, 1); smp_mb(); r0 = READ_ONCE(*a);"},
       kKernelMissed,
       kForbidden},
      // Load buffering.
      {"A store depends on its data",
       {"r0 = READ_ONCE(*a); WRITE_ONCE(*b, r0);", "r0 = READ_ONCE(*b); WRITE_ONCE(*a, r0);"},
       kKernelBoth,
       kForbidden},
      {"A store in an `if` waits for the condition",
       {"r0 = READ_ONCE(*a); if (r0) WRITE_ONCE(*b, 1);", "r0 = READ_ONCE(*b); smp_mb(); WRITE_ONCE(*a, 1);"},
       kKernelBoth,
       kForbidden},
      {"A store after the `if` does not",
       {"r0 = READ_ONCE(*a); if (r0) WRITE_ONCE(*c, 1); WRITE_ONCE(*b, 1);",
        "r0 = READ_ONCE(*b); smp_mb(); WRITE_ONCE(*a, 1);"},
       kKernelBoth,
       kAllowed},
      {"A value that an `if` has chosen is not tracked",
       {"r0 = 1; if (READ_ONCE(*a) == 0) r0 = 0; WRITE_ONCE(*b, r0);", "r0 = READ_ONCE(*b); WRITE_ONCE(*a, r0);"},
       "0:r0=1",
       kAllowed},
      // Several CPUs.
      {"A release carries what its CPU has seen",
       {"WRITE_ONCE(*a, 1);", "r0 = READ_ONCE(*a); smp_store_release(b, 1);",
        "r0 = READ_ONCE(*b); smp_rmb(); r1 = READ_ONCE(*a);"},
       "1:r0=1 /\\ 2:r0=1 /\\ 2:r1=0",
       kForbidden},
      {"smp_wmb() does not",
       {"WRITE_ONCE(*a, 1);", "r0 = READ_ONCE(*a); WRITE_ONCE(*c, 1); smp_wmb(); WRITE_ONCE(*b, 1);",
        "r0 = READ_ONCE(*b); smp_rmb(); r1 = READ_ONCE(*a);"},
       "1:r0=1 /\\ 2:r0=1 /\\ 2:r1=0",
       kAllowed},
      {"Two readers may disagree on the order of two releases",
       {"smp_store_release(a, 1);", "smp_store_release(b, 1);", "r0 = smp_load_acquire(a); r1 = smp_load_acquire(b);",
        "r0 = smp_load_acquire(b); r1 = smp_load_acquire(a);"},
       "2:r0=1 /\\ 2:r1=0 /\\ 3:r0=1 /\\ 3:r1=0",
       kAllowed},
      {"With full barriers they agree",
       {"WRITE_ONCE(*a, 1);", "WRITE_ONCE(*b, 1);", "r0 = READ_ONCE(*a); smp_mb(); r1 = READ_ONCE(*b);",
        "r0 = READ_ONCE(*b); smp_mb(); r1 = READ_ONCE(*a);"},
       "2:r0=1 /\\ 2:r1=0 /\\ 3:r0=1 /\\ 3:r1=0",
       kForbidden},
      {"Two releases may both be overwritten by the other's first store",
       {"WRITE_ONCE(*a, 2); smp_store_release(b, 1);", "WRITE_ONCE(*b, 2); smp_store_release(a, 1);"},
       "a=2 /\\ b=2",
       kAllowed},
      {"An unlock and the next lock pass stores on in order",
       {"spin_lock(l); WRITE_ONCE(*a, 1); spin_unlock(l);",
        "spin_lock(l); r0 = READ_ONCE(*a); WRITE_ONCE(*b, 1); spin_unlock(l);",
        "r1 = READ_ONCE(*b); smp_rmb(); r2 = READ_ONCE(*a);"},
       "1:r0=1 /\\ 2:r1=1 /\\ 2:r2=0",
       kForbidden},
      // One variable, and updates.
      {"A value does not go back", {"WRITE_ONCE(*a, 1);", "r0 = READ_ONCE(*a); r1 = READ_ONCE(*a);"}, kKernelSeen, kForbidden},
      {"No increment is lost", {"atomic_inc(a);", "atomic_inc(a);"}, "~a=2", kForbidden},
      {"atomic_dec_and_test() tells one CPU",
       {"r0 = atomic_dec_and_test(a);", "r0 = atomic_dec_and_test(a);"},
       kKernelBoth,
       kForbidden,
       "a=2;"},
      {"atomic_add_unless() leaves the value alone",
       {"r0 = atomic_add_unless(a, 1, 3);"},
       "a=4 \\/ 0:r0=1",
       kForbidden,
       "a=3;"},
      {"A trylock fails while the lock is held", {"spin_lock(l); r0 = spin_trylock(l);"}, "0:r0=1", kForbidden},
      // Locks that are never released, and RCU's own deadlock.
      {"Of two lockers without an unlock, one waits for ever",
       {"spin_lock(l); WRITE_ONCE(*a, 1);", "spin_lock(l); WRITE_ONCE(*b, 1);"},
       "a=1 /\\ b=1",
       kKernelNothingEnds},
      {"A grace period in a critical section does not end",
       {"rcu_read_lock(); WRITE_ONCE(*a, 1); synchronize_rcu(); rcu_read_unlock();"},
       "a=1",
       kKernelNothingEnds},
      // RCU and SRCU.
      {"A critical section spans no grace period",
       {"rcu_read_lock(); WRITE_ONCE(*a, 1); WRITE_ONCE(*b, 1); rcu_read_unlock();",
        "r0 = READ_ONCE(*a); synchronize_rcu(); r1 = READ_ONCE(*b);"},
       kKernelSeen,
       kForbidden},
      {"Without the critical section, it may look as if",
       {"WRITE_ONCE(*a, 1); WRITE_ONCE(*b, 1);", "r0 = READ_ONCE(*a); synchronize_rcu(); r1 = READ_ONCE(*b);"},
       kKernelSeen,
       kAllowed},
      {"The outermost critical section counts",
       {"rcu_read_lock(); WRITE_ONCE(*a, 1); rcu_read_lock(); rcu_read_unlock(); WRITE_ONCE(*b, 1); rcu_read_unlock();",
        "r0 = READ_ONCE(*a); synchronize_rcu(); r1 = READ_ONCE(*b);"},
       kKernelSeen,
       kForbidden},
      {"One grace period orders one critical section of two",
       {"rcu_read_lock(); r0 = READ_ONCE(*a); WRITE_ONCE(*b, 1); rcu_read_unlock();",
        "r0 = READ_ONCE(*b); synchronize_rcu(); WRITE_ONCE(*c, 1);",
        "rcu_read_lock(); r0 = READ_ONCE(*c); WRITE_ONCE(*a, 1); rcu_read_unlock();"},
       "0:r0=1 /\\ 1:r0=1 /\\ 2:r0=1",
       kAllowed},
      {"Two grace periods order two critical sections",
       {"rcu_read_lock(); r0 = READ_ONCE(*a); WRITE_ONCE(*b, 1); rcu_read_unlock();",
        "r0 = READ_ONCE(*b); synchronize_rcu(); synchronize_rcu(); WRITE_ONCE(*c, 1);",
        "rcu_read_lock(); r0 = READ_ONCE(*c); WRITE_ONCE(*a, 1); rcu_read_unlock();"},
       "0:r0=1 /\\ 1:r0=1 /\\ 2:r0=1",
       kForbidden},
      {"SRCU's critical section spans no grace period of its domain",
       {"r2 = srcu_read_lock(s); WRITE_ONCE(*a, 1); WRITE_ONCE(*b, 1); srcu_read_unlock(s, r2);",
        "r0 = READ_ONCE(*a); synchronize_srcu(s); r1 = READ_ONCE(*b);"},
       kKernelSeen,
       kForbidden},
      {"It may span another domain's",
       {"r2 = srcu_read_lock(s); WRITE_ONCE(*a, 1); WRITE_ONCE(*b, 1); srcu_read_unlock(s, r2);",
        "r0 = READ_ONCE(*a); synchronize_srcu(t); r1 = READ_ONCE(*b);"},
       kKernelSeen,
       kAllowed},
  };
  return kShapes;
}

TEST(LinuxKernelModel, JudgesFortyShapes) {
  EXPECT_GE(kernel_shapes().size(), 40U);
  for (const Shape& shape : kernel_shapes()) expect_verdict(shape, c_text(shape), "linux-kernel");
}

bool races(const std::vector<std::string_view>& threads) {
  return judgement_of(c_text({"", threads, "a=1", Says::allowed}), "linux-kernel").has_race;
}

TEST(LinuxKernelModel, CallsPlainAccessesARaceUnlessFencesPartThem) {
  EXPECT_TRUE(races({"*a = 1;", "r0 = READ_ONCE(*a);"}));
  EXPECT_TRUE(races({"*a = 1;", "*a = 1;"}));
  EXPECT_FALSE(races({"WRITE_ONCE(*a, 1);", "r0 = READ_ONCE(*a);"}));
  EXPECT_FALSE(races({"r0 = *a;", "r0 = *a;"})) << "two loads";
  EXPECT_FALSE(races({"*a = 1; smp_store_release(b, 1);", "r0 = smp_load_acquire(b); if (r0) r1 = *a;"}));
  EXPECT_TRUE(races({"*a = 1; WRITE_ONCE(*b, 1);", "r0 = smp_load_acquire(b); if (r0) r1 = *a;"})) << "no release";
  EXPECT_TRUE(races({"*a = 1; smp_store_release(b, 1);", "r0 = READ_ONCE(*b); if (r0) r1 = *a;"})) << "no acquire";
  EXPECT_FALSE(races({"spin_lock(l); *a = 1; spin_unlock(l);", "spin_lock(l); *a = 2; spin_unlock(l);"}));
}

TEST(LinuxKernelModel, ManyThreadsAreJudgedInSeconds) {
  std::vector<std::string> texts;
  std::string asks;
  for (int i = 0; i < 7; ++i) {
    texts.push_back(fmt::format("WRITE_ONCE(*a, {});", i + 1));
    asks += fmt::format("{}a={}", i == 0 ? "" : " \\/ ", i + 1);
  }
  const std::vector<std::string_view> threads(texts.begin(), texts.end());
  expect_verdict({"", threads, "a=0", Says::forbidden}, c_text({"", threads, "a=0", Says::forbidden}), "linux-kernel");
  EXPECT_EQ(judgement_of(c_text({"", threads, asks, Says::allowed}), "linux-kernel").observation, Observation::always);
}

}  // namespace
}  // namespace linebounce::sim::litmus
