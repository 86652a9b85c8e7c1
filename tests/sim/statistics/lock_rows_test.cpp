// Turns lock counters into rows and metrics. The programs' times are known, so every figure can be predicted.
#include "sim/statistics/lock_rows.hpp"

#include <gmock/gmock.h>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {

using namespace sim;

namespace {

using testing::Contains;
using testing::Key;
using testing::Not;

constexpr int kCpus = 2;

// Two CPUs use locks for 100 us of measured time; a cycle of the small machine's CPUs is 1 ns.
class LockRows : public testing::Test {
 protected:
  void run(const std::function<void(Cpu&)>& first, const std::function<void(Cpu&)>& second) {
    small_.machine.set_functions(space_.functions().size());
    small_.run({first, second});
    std::vector<const Cpu*> cpus;
    for (int cpu = 0; cpu < kCpus; ++cpu) cpus.push_back(&small_.machine.cpu(cpu));
    locks_.finish(cpus, small_.machine.finished_at());
    collect_locks(locks_, space_, small_.machine.timebase(), small_.machine.measured(), kCpus, {}, point_);
  }

  [[nodiscard]] const LockRow& row(const std::string& lock, const std::string& call_site) const {
    for (const LockRow& row : point_.locks) {
      if (row.lock == lock && row.call_site == call_site) return row;
    }
    throw std::logic_error("no row for " + lock + " " + call_site);
  }

  MachineSpec spec_ = small_machine(kCpus);
  SmallMachine small_{spec_, {}, 0, 100};
  AddressSpace space_{small_.machine.store()};
  LockSet locks_{space_, kCpus};
  FunctionId lookup_ = space_.function("d_lookup", Mode::kernel);
  FunctionId alloc_ = space_.function("d_alloc", Mode::kernel);
  PointData point_;
};

void hold(Cpu& cpu, MeteredLock& lock, FunctionId call_site, std::int64_t cycles) {
  const FunctionScope scope(cpu, call_site);
  lock.acquire(cpu);
  cpu.compute(cycles);
  lock.release(cpu);
}

// CPU 0 holds the lock for 10 us and for 30 us of 100 us: 40 %. A hold begins when the acquisition ends, and ends when the
// release begins.
TEST_F(LockRows, UtilisationIsTheShareOfTheTimeInWhichItIsHeld) {
  MeteredLock& lock = locks_.create("ticket", "dcache_lock");
  run(
      [&](Cpu& cpu) {
        hold(cpu, lock, lookup_, 10000);
        hold(cpu, lock, alloc_, 30000);
      },
      [](Cpu&) {});
  const LockRow& all = row("dcache_lock", "");
  EXPECT_NEAR(all.util_pct, 40 * 100000 / small_.machine.timebase().to_ns(small_.machine.measured()), 0.1);
  EXPECT_NEAR(all.hold_mean_us, 20, 0.1);
  EXPECT_NEAR(all.hold_max_us, 30, 0.1);
  EXPECT_EQ(all.total, 2);
  EXPECT_EQ(all.nowait, 2);
  EXPECT_EQ(all.con_pct, 0);
  EXPECT_EQ(all.wait_mean_us, 0);
  EXPECT_NEAR(row("dcache_lock", "d_lookup").hold_mean_us, 10, 0.1);
  EXPECT_NEAR(row("dcache_lock", "d_alloc").hold_mean_us, 30, 0.1);
}

// Two run queues with a lock each. One lock is held for 60 us of 100 us, the other for 80 us, until the end. Utilisation is
// the mean, 70 %, not the sum.
TEST_F(LockRows, OfSeveralLocksOfOneNameUtilisationIsTheMeanAndTheWorst) {
  MeteredLock& first = locks_.create("ticket", "rq_lock[0]", {.figures = "rq_lock"});
  MeteredLock& second = locks_.create("ticket", "rq_lock[1]", {.figures = "rq_lock"});
  run([&](Cpu& cpu) { hold(cpu, first, lookup_, 60000); },
      [&](Cpu& cpu) {
        cpu.compute(20000);
        hold(cpu, second, alloc_, 1000000);
      });
  EXPECT_NEAR(row("rq_lock", "").util_pct, 70, 0.5);
  EXPECT_NEAR(row("rq_lock", "d_lookup").util_pct, 30, 0.5);
  EXPECT_NEAR(std::get<double>(point_.metrics.at("locks.rq_lock.util_worst_pct").value), 80, 0.5);
}

// CPU 1 requests the lock at 10 us and never gets it. Its wait counts as the 90 us until the end.
TEST_F(LockRows, AWaitUnderWayAtTheEndCountsWithItsLengthSoFar) {
  MeteredLock& lock = locks_.create("ticket", "dcache_lock");
  run([&](Cpu& cpu) { hold(cpu, lock, alloc_, 1000000); },
      [&](Cpu& cpu) {
        cpu.compute(10000);
        hold(cpu, lock, lookup_, 100);
      });
  const LockRow& all = row("dcache_lock", "");
  EXPECT_EQ(all.total, 2);
  EXPECT_EQ(all.spin, 1);
  EXPECT_EQ(all.con_pct, 50);
  EXPECT_NEAR(all.wait_mean_us, 90, 0.5);
  EXPECT_NEAR(all.wait_max_us, 90, 0.5);
  EXPECT_EQ(std::get<std::int64_t>(point_.metrics.at("locks.dcache_lock.waiting").value), 1);
}

// A hand-off takes a few transfers of the lock's line, 40 to 200 ns each here. A CPU that comes after the release finds the
// lock free, which counts as no hand-off.
TEST_F(LockRows, AHandOffIsFromTheReleaseToTheNextHold) {
  MeteredLock& lock = locks_.create("ticket", "dcache_lock");
  run([&](Cpu& cpu) { hold(cpu, lock, alloc_, 30000); },
      [&](Cpu& cpu) {
        cpu.compute(10000);
        hold(cpu, lock, lookup_, 100);
        cpu.compute(10000);
        hold(cpu, lock, lookup_, 100);
      });
  const LockRow& all = row("dcache_lock", "");
  const double handoff_ns = std::get<double>(point_.metrics.at("locks.dcache_lock.handoff_mean_ns").value);
  EXPECT_GT(handoff_ns, 100);
  EXPECT_LT(handoff_ns, 500);
  EXPECT_NEAR(all.wait_max_us, 20 + handoff_ns / 1000, 0.3);
}

TEST_F(LockRows, AHandOffBetweenNodesIsCountedApart) {
  LockSet apart{space_, kCpus, {CpuPlace{.os_node = 0}, CpuPlace{.os_node = 1}}};
  MeteredLock& lock = apart.create("ticket", "dcache_lock");
  run([&](Cpu& cpu) { hold(cpu, lock, alloc_, 30000); },
      [&](Cpu& cpu) {
        cpu.compute(10000);
        hold(cpu, lock, lookup_, 100);
      });
  const LockUse& use = lock.figures().by_call_site().at(lookup_);
  EXPECT_EQ(use.handoffs, 1);
  EXPECT_EQ(use.remote_handoffs, 1);
  EXPECT_EQ(use.remote_handoff_sum, use.handoff_sum);
}

// A waiter for a spin lock waits for the latest holder, whether the waiter, the holder or both only read.
TEST_F(LockRows, ASpinLocksReadersHandItOverAndAreGivenIt) {
  MeteredLock& lock = locks_.create("ticket", "dcache_lock");
  const auto read = [&](Cpu& cpu, FunctionId where, std::int64_t cycles) {
    const FunctionScope scope(cpu, where);
    lock.acquire_shared(cpu);
    cpu.compute(cycles);
    ASSERT_TRUE(lock.release_shared(cpu));
  };
  run(
      [&](Cpu& cpu) {
        read(cpu, alloc_, 30000);
        cpu.compute(10000);
        read(cpu, alloc_, 100);
      },
      [&](Cpu& cpu) {
        cpu.compute(10000);
        hold(cpu, lock, lookup_, 30000);
      });
  const auto& uses = lock.figures().by_call_site();
  EXPECT_EQ(uses.at(lookup_).handoffs, 1) << "from a reader to a writer";
  EXPECT_EQ(uses.at(alloc_).handoffs, 1) << "from a writer to a reader";
}

TEST_F(LockRows, WithoutWaitersThereIsNoHandOff) {
  MeteredLock& lock = locks_.create("ticket", "dcache_lock");
  run([&](Cpu& cpu) { hold(cpu, lock, alloc_, 30000); }, [](Cpu&) {});
  EXPECT_EQ(point_.metrics.count("locks.dcache_lock.handoff_mean_ns"), 0U);
}

// CPU 1 requests the lock 10 us after CPU 0 has taken it for 30 us, and waits for 20 us. At CPU 1's second request, the lock
// is free.
TEST_F(LockRows, ContentionAndWaitsAreOfThoseWhoCouldNotHaveItAtOnce) {
  MeteredLock& lock = locks_.create("ticket", "dcache_lock");
  run([&](Cpu& cpu) { hold(cpu, lock, alloc_, 30000); },
      [&](Cpu& cpu) {
        cpu.compute(10000);
        hold(cpu, lock, lookup_, 1000);
        cpu.compute(10000);
        hold(cpu, lock, lookup_, 1000);
      });
  const LockRow& site = row("dcache_lock", "d_lookup");
  EXPECT_EQ(site.total, 2);
  EXPECT_EQ(site.spin, 1);
  EXPECT_EQ(site.nowait, 1);
  EXPECT_EQ(site.con_pct, 50);
  EXPECT_NEAR(site.wait_mean_us, 20, 1);
  EXPECT_NEAR(site.wait_max_us, 20, 1);
  const LockRow& all = row("dcache_lock", "");
  EXPECT_NEAR(all.con_pct, 100.0 / 3, 1e-9);
  const double both = 2 * small_.machine.timebase().to_ns(small_.machine.measured()) / 1000;
  EXPECT_NEAR(all.cpu_pct, 100 * all.wait_mean_us / both, 1e-9) << "one wait, of the time of all CPUs";
}

TEST_F(LockRows, AnAttemptThatFailsIsRejectedAndNoAcquisition) {
  MeteredLock& lock = locks_.create("ttas", "dcache_lock");
  run([&](Cpu& cpu) { hold(cpu, lock, alloc_, 30000); },
      [&](Cpu& cpu) {
        cpu.compute(10000);
        const FunctionScope scope(cpu, lookup_);
        EXPECT_FALSE(lock.try_acquire(cpu));
      });
  EXPECT_EQ(row("dcache_lock", "d_lookup").rjct, 1);
  EXPECT_EQ(row("dcache_lock", "d_lookup").total, 0);
  EXPECT_EQ(row("dcache_lock", "").rjct, 1);
}

TEST_F(LockRows, ALockStandsBeforeItsCallSitesAndAllAreSorted) {
  MeteredLock& b = locks_.create("ttas", "b_lock");
  MeteredLock& a = locks_.create("ttas", "a_lock");
  run(
      [&](Cpu& cpu) {
        hold(cpu, b, lookup_, 10);
        hold(cpu, b, alloc_, 10);
        hold(cpu, a, lookup_, 10);
      },
      [](Cpu&) {});
  std::vector<std::string> order;
  for (const LockRow& row : point_.locks) order.push_back(row.lock + "/" + row.call_site);
  EXPECT_EQ(order, (std::vector<std::string>{"a_lock/", "a_lock/d_lookup", "b_lock/", "b_lock/d_alloc", "b_lock/d_lookup"}));
}

TEST_F(LockRows, EveryColumnIsAMetric) {
  MeteredLock& lock = locks_.create("ttas", "dcache_lock");
  run([&](Cpu& cpu) { hold(cpu, lock, lookup_, 10); }, [](Cpu&) {});
  for (const char* figure : {"util_pct", "con_pct", "hold_mean_us", "hold_max_us", "wait_mean_us", "wait_max_us", "cpu_pct",
                             "total", "nowait", "spin", "rjct"}) {
    EXPECT_THAT(point_.metrics, Contains(Key(std::string("locks.dcache_lock.") + figure)));
    EXPECT_THAT(point_.metrics, Contains(Key(std::string("locks.dcache_lock.d_lookup.") + figure)));
  }
  EXPECT_EQ(point_.metrics.at("locks.dcache_lock.total").value, (std::variant<std::int64_t, double>(std::int64_t{1})));
  EXPECT_THAT(point_.metrics, Not(Contains(Key("locks.dcache_lock.races")))) << "only of a lock that excludes nobody";
}

// CPU 1 enters at 10 us, while CPU 0 is inside from 0 to 30 us.
TEST_F(LockRows, ALockThatIsNoneTellsItsRaces) {
  MeteredLock& lock = locks_.create("none", "dcache_lock");
  run([&](Cpu& cpu) { hold(cpu, lock, alloc_, 30000); },
      [&](Cpu& cpu) {
        cpu.compute(10000);
        hold(cpu, lock, lookup_, 1000);
      });
  const auto number = [this](const char* name) {
    return std::visit([](auto value) { return static_cast<double>(value); }, point_.metrics.at(name).value);
  };
  EXPECT_EQ(number("locks.dcache_lock.races"), 2) << "both sections";
  EXPECT_NEAR(number("locks.dcache_lock.first_race.at_us"), 10, 0.5);
  EXPECT_EQ(number("locks.dcache_lock.first_race.inside_cpu"), 0);
  EXPECT_EQ(number("locks.dcache_lock.first_race.entering_cpu"), 1);
}

}  // namespace
}  // namespace linebounce::test
