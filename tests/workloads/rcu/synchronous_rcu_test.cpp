// SRCU and QSBR: synchronize() outlasts every reader that may see the removed object, on every memory model; without a barrier,
// or without one of the CPUs, it doesn't, and that is found.
#include "workloads/rcu/synchronous_rcu.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "models/failure.hpp"
#include "tests/models/support/small_machine.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/program/barrier.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

enum class Design : std::uint8_t { srcu, qsbr };

class Threads {
 public:
  Threads(const MachineSpec& spec, Design design, RcuMistake mistake = RcuMistake::none)
      : cpus(spec.cpus),
        small(spec),
        space(small.machine.store(), spec.has_nodes() ? &small.machine.homes() : nullptr),
        locks(space, spec.cpus),
        rcu(make({space, locks, spec, small.machine.layout(), 1}, design, {.retry_us = 0.5, .mistake = mistake})),
        end(space, "end", spec.cpus),
        program(space.function("program", Mode::user)) {}

  // Runs this program on every CPU; a CPU whose program has ended is offline.
  void run(const Core::Program& of_cpu) {
    small.machine.set_functions(space.functions().size());
    small.run(std::vector<Core::Program>(static_cast<std::size_t>(cpus), [&](Cpu& cpu) {
      const FunctionScope scope(cpu, program);
      rcu->start(cpu);
      of_cpu(cpu);
      rcu->go_offline(cpu);
      end.wait(cpu);
    }));
  }

  static std::unique_ptr<SynchronousRcu> make(const WorkloadSetup& setting, Design design,
                                              const SynchronousRcuOptions& options) {
    return design == Design::srcu ? make_srcu(setting, options) : make_qsbr(setting, options);
  }

  int cpus;
  SmallMachine small;
  AddressSpace space;
  LockSet locks;
  std::unique_ptr<SynchronousRcu> rcu;
  Barrier end;
  FunctionId program;
};

constexpr Value kPoisoned = 0xDEAD;

// Each CPU reads the object behind a pointer, or replaces it and poisons the old one after a grace period, in sections of
// random lengths; at times it is offline.
class RandomSynchronizations {
 public:
  static constexpr int kUpdates = 8, kSteps = 60;  // by each CPU

  RandomSynchronizations(Threads& threads, std::uint64_t seed) : threads_(threads), seed_(seed) {
    pointer_ = threads.space.place_array("pointer", 32);
    objects_ = threads.space.place_array("objects", std::int64_t{32} * (1 + threads.cpus * kUpdates));
    threads.space.preset(pointer_, objects_);
  }

  void run() {
    threads_.run([this](Cpu& cpu) { program(cpu); });
  }

  struct Span {
    Tick from, to;
  };
  std::vector<Span> readers, waits;  // of all CPUs

 private:
  void program(Cpu& cpu) {
    Random random(seed_, static_cast<std::uint64_t>(cpu.id().value), 7);
    int updates = 0;
    for (int step = 0; step < kSteps; ++step) {
      const std::uint64_t kind = random.below(10);
      const auto length = static_cast<std::int64_t>(random.below(kind == 0 ? 40000 : 1000)) + 1;
      if (kind < 6) {
        read(cpu, length);
      } else if (kind < 7 && updates < kUpdates) {
        const int object = 1 + cpu.id().value * kUpdates + updates++;
        update(cpu, objects_ + 32 * static_cast<Address>(object));
      } else if (kind < 9) {
        threads_.rcu->quiescent(cpu);
      } else {
        threads_.rcu->go_offline(cpu);
        cpu.compute(length);
        threads_.rcu->go_online(cpu);
      }
    }
  }

  void read(Cpu& cpu, std::int64_t length) {
    const int section = threads_.rcu->read_lock(cpu);
    const Tick from = cpu.local_time();
    const Address seen = cpu.load(pointer_);
    cpu.compute(length);
    EXPECT_NE(cpu.load(seen + 16), kPoisoned);
    threads_.rcu->read_unlock(cpu, section);
    readers.push_back({from, cpu.local_time()});
  }

  void update(Cpu& cpu, Address fresh) {
    const Address old = cpu.exchange(pointer_, fresh);
    const Tick removed = cpu.local_time();
    threads_.rcu->synchronize(cpu);
    waits.push_back({removed, cpu.local_time()});
    cpu.store(old + 16, kPoisoned);
  }

  Threads& threads_;
  std::uint64_t seed_;
  Address pointer_ = 0, objects_ = 0;
};

using AtRandom = std::tuple<Design, std::uint64_t>;
class SynchronousRcuAtRandom : public testing::TestWithParam<AtRandom> {
 protected:
  static void expect_grace_periods(const MachineSpec& spec) {
    Threads threads(spec, std::get<0>(GetParam()));
    RandomSynchronizations updates(threads, std::get<1>(GetParam()));
    updates.run();
    EXPECT_GT(updates.waits.size(), 5U);
    std::size_t readers_at_a_removal = 0;
    for (const auto& wait : updates.waits) {
      for (const auto& reader : updates.readers) {
        if (reader.from >= wait.from || reader.to <= wait.from) continue;
        ++readers_at_a_removal;
        EXPECT_LE(reader.to, wait.to);
      }
    }
    EXPECT_GT(readers_at_a_removal, 10U);  // otherwise the test has shown nothing
  }
};
INSTANTIATE_TEST_SUITE_P(, SynchronousRcuAtRandom,
                         testing::Combine(testing::Values(Design::srcu, Design::qsbr), testing::Range<std::uint64_t>(1, 5)));

TEST_P(SynchronousRcuAtRandom, SynchronizeOutlastsItsReaders) {
  expect_grace_periods(small_machine(4));
}

TEST_P(SynchronousRcuAtRandom, SynchronizeOutlastsItsReadersWithAStoreBuffer) {
  MachineSpec spec = small_machine(4);
  spec.cpu.consistency = Consistency::tso;
  spec.cpu.store_buffer_entries = 8;
  expect_grace_periods(spec);
}

TEST_P(SynchronousRcuAtRandom, SynchronizeOutlastsItsReadersWhereStoresMayPassEachOther) {
  MachineSpec spec = small_machine(4);
  spec.cpu.consistency = Consistency::ia64;
  spec.cpu.store_buffer_entries = 4;
  expect_grace_periods(spec);
}

TEST_P(SynchronousRcuAtRandom, SynchronizeOutlastsItsReadersOnSeveralNodes) {
  expect_grace_periods(small_nodes(2, 4));
}

void synchronize_at_random(Design design, RcuMistake mistake) {
  Threads threads(small_machine(4), design, mistake);
  RandomSynchronizations(threads, 1).run();
}

TEST(SynchronousRcu, AnSrcuGracePeriodThatSkipsACpuIsFound) {
  EXPECT_THROW(synchronize_at_random(Design::srcu, RcuMistake::skips_a_cpu), ModelFailure);
}

TEST(SynchronousRcu, AQsbrGracePeriodThatSkipsACpuIsFound) {
  EXPECT_THROW(synchronize_at_random(Design::qsbr, RcuMistake::skips_a_cpu), ModelFailure);
}

// CPU 1 announces itself after stores that all miss. Without a barrier it reads while the announcement waits in its store
// buffer, and CPU 0's grace periods don't see it.
void announce_behind_slow_stores(Design design, RcuMistake mistake) {
  MachineSpec spec = small_machine(2);
  spec.cpu.consistency = Consistency::tso;
  spec.cpu.store_buffer_entries = 16;
  Threads threads(spec, design, mistake);
  const Address lines = threads.space.place_array("lines", std::int64_t{32} * 32 * 16);
  threads.run([&](Cpu& cpu) {
    for (int round = 0; round < 30; ++round) {
      if (cpu.id().value == 0) {
        threads.rcu->synchronize(cpu);
        continue;
      }
      threads.rcu->go_offline(cpu);
      for (int i = 0; i < 12; ++i) cpu.store(lines + 32 * static_cast<Address>(round * 16 + i), 1);
      threads.rcu->go_online(cpu);
      const int section = threads.rcu->read_lock(cpu);
      cpu.compute(4000);
      threads.rcu->read_unlock(cpu, section);
    }
  });
}

TEST(SynchronousRcu, AnSrcuReaderWithoutABarrierIsFound) {
  EXPECT_THROW(announce_behind_slow_stores(Design::srcu, RcuMistake::no_barrier), ModelFailure);
}

TEST(SynchronousRcu, AnSrcuReaderWithItsBarrierIsSeen) {
  EXPECT_NO_THROW(announce_behind_slow_stores(Design::srcu, RcuMistake::none));
}

TEST(SynchronousRcu, AQsbrReaderThatComesOnlineWithoutABarrierIsFound) {
  EXPECT_THROW(announce_behind_slow_stores(Design::qsbr, RcuMistake::no_barrier), ModelFailure);
}

TEST(SynchronousRcu, AQsbrReaderWithItsBarrierIsSeen) {
  EXPECT_NO_THROW(announce_behind_slow_stores(Design::qsbr, RcuMistake::none));
}

double reader_pays_ns(Design design) {
  Threads threads(small_machine(1), design);
  Tick paid = 0;
  threads.run([&](Cpu& cpu) {
    for (int round = 0; round < 3; ++round) {
      const Tick from = cpu.now();
      const int section = threads.rcu->read_lock(cpu);
      threads.rcu->read_unlock(cpu, section);
      paid = cpu.now() - from;
    }
  });
  return threads.small.machine.timebase().to_ns(paid);
}

// On entry the reader loads the index. On entry and on exit it counts itself: a load (2 cycles if it hits), a store (1) and a
// barrier (8).
TEST(SynchronousRcu, AnSrcuReaderPaysForItsCountsAndBarriers) {
  EXPECT_EQ(reader_pays_ns(Design::srcu), 3 * 2 + 2 * 1 + 2 * 8);
}

TEST(SynchronousRcu, AQsbrReaderPaysNothing) {
  EXPECT_EQ(reader_pays_ns(Design::qsbr), 0);
}

TEST(SynchronousRcu, AnSrcuUpdaterDoesNotWaitForACpuThatReadsNothing) {
  Threads threads(small_machine(2), Design::srcu);
  double took_ns = 0;
  threads.run([&](Cpu& cpu) {
    if (cpu.id().value == 1) {
      cpu.compute(100000);
      return;
    }
    const double begin = cpu.now_ns();
    threads.rcu->synchronize(cpu);
    took_ns = cpu.now_ns() - begin;
  });
  EXPECT_LT(took_ns, 5000);
}

TEST(SynchronousRcu, AQsbrUpdaterAlsoWaitsForAThreadThatReadsNothing) {
  Threads threads(small_machine(2), Design::qsbr);
  double done_ns = 0;
  double stated_ns = 0;
  threads.run([&](Cpu& cpu) {
    if (cpu.id().value == 1) {
      cpu.compute(100000);
      stated_ns = cpu.now_ns();
      threads.rcu->quiescent(cpu);
      return;
    }
    cpu.compute(2000);  // the other CPU is online by now
    threads.rcu->synchronize(cpu);
    done_ns = cpu.now_ns();
  });
  EXPECT_GT(done_ns, stated_ns);
}

void synchronize_inside(Design design) {
  Threads threads(small_machine(1), design);
  threads.run([&](Cpu& cpu) {
    threads.rcu->read_lock(cpu);
    threads.rcu->synchronize(cpu);
  });
}

TEST(SynchronousRcu, SynchronizeInsideAnSrcuReaderIsRefused) {
  EXPECT_THROW(synchronize_inside(Design::srcu), ModelFailure);
}

TEST(SynchronousRcu, SynchronizeInsideAQsbrReaderIsRefused) {
  EXPECT_THROW(synchronize_inside(Design::qsbr), ModelFailure);
}

}  // namespace
}  // namespace linebounce::test
