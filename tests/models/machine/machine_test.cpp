// Conditions that stop a machine: deadlock, livelock, a wrong protocol.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "models/failure.hpp"
#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

template <class Body>
std::string failure_of(Body body) {
  try {
    body();
  } catch (const ModelFailure& failure) {
    return failure.what();
  }
  return "no failure";
}

Core::Program spin_on(Address address) {
  return [address](Cpu& cpu) { cpu.spin_until(address, [](Value value) { return value != 0; }); };
}

TEST(Deadlock, OfCpusThatSpinOnWordsThatNobodyWritesNamesEachAndItsWord) {
  SmallMachine small(small_machine(2));
  const std::string text = failure_of([&] { small.run({spin_on(0x10000), spin_on(0x20040)}); });
  EXPECT_THAT(text,
              AllOf(HasSubstr("deadlock"), HasSubstr("CPU 0"), HasSubstr("0x10000"), HasSubstr("CPU 1"), HasSubstr("0x20040")));
}

TEST(Deadlock, OfACpuThatSleepsForeverIsFound) {
  SmallMachine small(small_machine(2));
  const std::string text = failure_of([&] { small.run({[](Cpu& cpu) { cpu.sleep(); }, [](Cpu&) {}}); });
  EXPECT_THAT(text, AllOf(HasSubstr("deadlock"), HasSubstr("CPU 0: sleeps"), HasSubstr("CPU 1: has ended")));
}

// CPU 1 still computes when the measured time ends. What its program would do later is not simulated, so it is not a deadlock.
TEST(Deadlock, IsNoneWhereTheLastComputationOutlastsTheMeasuredTime) {
  SmallMachine small(small_machine(2), {}, 0, 2);
  small.run({[](Cpu& cpu) { cpu.sleep(); }, [](Cpu& cpu) { cpu.compute(5000); }});
}

TEST(Livelock, IsFoundByTheWatchdogWhereSpinsAreSimulated) {
  EngineSpec engine;
  engine.parked_spins = false;
  engine.watchdog_us = 50;
  SmallMachine small(small_machine(2), engine);
  const std::string text = failure_of([&] { small.run({spin_on(0x10000), spin_on(0x10000)}); });
  EXPECT_THAT(text, AllOf(HasSubstr("livelock"), HasSubstr("CPU 0"), HasSubstr("CPU 1")));
}

// A lone CPU never ends its turn because of another CPU, yet the watchdog must look at it.
TEST(Livelock, OfACpuThatIsAloneIsFoundToo) {
  EngineSpec engine;
  engine.parked_spins = false;
  engine.watchdog_us = 50;
  SmallMachine small(small_machine(1), engine);
  EXPECT_THAT(failure_of([&] { small.run({spin_on(0x10000)}); }), HasSubstr("livelock"));
}

// A link takes 1 ms, and all lines are at home on node 0. CPU 1 writes the line. CPU 2 requests it at 4 ms, so from 5 ms to
// 7 ms the directory waits for CPU 1's data. CPU 0's GetM comes at 5.5 ms and must wait. Nobody computes any more, and the
// watchdog's patience is 50 us.
TEST(Livelock, NamesTheMessageThatWaitsAtADirectory) {
  MachineSpec spec = small_nodes(3, 3);
  spec.network.latency_ns = 1e6;
  EngineSpec engine;
  engine.watchdog_us = 50;
  SmallMachine small(spec, engine);
  small.machine.homes().place(kLine, Home::on(0));
  const std::string text = failure_of([&] {
    small.run({[](Cpu& cpu) {
                 wait_until(cpu, 5.5e6);
                 cpu.store(kLine, 1);
               },
               [](Cpu& cpu) { cpu.store(kLine, 1); },
               [](Cpu& cpu) {
                 wait_until(cpu, 4e6);
                 cpu.load(kLine);
               }});
  });
  EXPECT_THAT(text, AllOf(HasSubstr("livelock"), HasSubstr("directory 0: GetM of agent 0 for line 0x10000 waits")));
}

TEST(Livelock, IsNotALongComputation) {
  EngineSpec engine;
  engine.watchdog_us = 50;
  SmallMachine small(small_machine(2), engine);
  small.run({[](Cpu& cpu) {
               cpu.compute(300'000);
               cpu.store(kLine, 1);
             },
             spin_on(kLine)});
}

// Every line evicts another, so the loop progresses slowly: each load misses, and one cycle of computation follows. The
// watchdog must not take this for a livelock.
TEST(Livelock, IsNotALoopThatComputesOnceForEachLoad) {
  EngineSpec engine;
  engine.watchdog_us = 50;
  SmallMachine small(small_machine(1), engine);
  small.run({[](Cpu& cpu) {
    for (Address i = 0; i < 2000; ++i) {
      cpu.load(kLine + i * kSetStride);
      cpu.compute(1);
    }
  }});
}

TEST(Livelock, IsNotALongWaitForATimer) {
  EngineSpec engine;
  engine.watchdog_us = 50;
  SmallMachine small(small_machine(2), engine);
  small.run({[](Cpu& cpu) {
               cpu.set_interrupt_handler([](Cpu& self, int) { self.wake(self.id()); });
               cpu.set_timer(300'000, 1);
               cpu.sleep();
               cpu.store(kLine, 1);
             },
             spin_on(kLine)});
}

// `check` proves protocols for an atomic bus, but the machine's bus would run them wrongly.
TEST(Machine, RefusesAProtocolForAnAtomicBus) {
  std::string text = shipped_text("mesi_snoop");
  const std::string split = "| bus        | split |";
  text.replace(text.find(split), split.size(), "| bus        | atomic |");
  const Protocol protocol = parse_protocol({{"atomic_mesi.md", text}});
  EXPECT_THAT([&] { SmallMachine(small_machine(1), protocol); },
              testing::ThrowsMessage<std::invalid_argument>(HasSubstr("atomic_mesi is for an atomic bus")));
}

TEST(Machine, RefusesAProtocolWhoseMemoryHasStates) {
  Protocol protocol = shipped_protocol("mesi_snoop");
  protocol.memory.states.push_back(protocol.memory.states.front());
  EXPECT_THAT([&] { SmallMachine(small_machine(1), protocol); },
              testing::ThrowsMessage<std::invalid_argument>(HasSubstr("memory with states")));
}

// The measured time has a limit, so the run ends then, even while all CPUs wait for the bus.
TEST(Machine, EndsInTheMiddleOfEverybodysMiss) {
  SmallMachine small(small_machine(2), {}, 0, 2.05);
  const auto miss_at_the_end = [](Cpu& cpu) {
    wait_until(cpu, 2000);
    cpu.load(kLine);
    FAIL() << "at 2146, long after the end";
  };
  small.run({miss_at_the_end, miss_at_the_end});
  EXPECT_EQ(small.machine.timebase().to_ns(small.machine.measured()), 2050);
}

TEST(Machine, RethrowsAProgramsException) {
  SmallMachine small(small_machine(1));
  EXPECT_THROW(small.run({[](Cpu& cpu) {
    cpu.load(kLine);
    throw std::domain_error("mine");
  }}),
               std::domain_error);
}

TEST(Machine, RethrowsAnExceptionOfAProgramWithSeveralThreads) {
  MachineSpec spec = small_machine(2);
  spec.cpu.threads_per_core = 2;
  SmallMachine small(spec);
  EXPECT_THROW(small.run({[](Cpu& cpu) { cpu.load(kLine); },
                          [](Cpu& cpu) {
                            cpu.load(kLine);
                            throw std::domain_error("mine");
                          }}),
               std::domain_error);
}

// The objects that programs use, and their listeners, may be destroyed before the machine is.
class UnwoundPrograms : public testing::TestWithParam<int> {};

TEST_P(UnwoundPrograms, AreThoseThatAreLeftInTheMiddle) {
  MachineSpec spec = small_machine(2);
  spec.cpu.threads_per_core = GetParam();
  SmallMachine small(spec);
  bool unwound = false;
  const auto sleeper = [&unwound](Cpu& cpu) {
    const std::unique_ptr<bool, void (*)(bool*)> guard(&unwound, [](bool* flag) { *flag = true; });
    cpu.sleep();
  };
  EXPECT_THAT(failure_of([&] { small.run({sleeper, [](Cpu&) {}}); }), HasSubstr("deadlock"));
  EXPECT_FALSE(unwound);
  small.machine.unwind_programs();
  EXPECT_TRUE(unwound);
}

INSTANTIATE_TEST_SUITE_P(ThreadsPerCore, UnwoundPrograms, testing::Values(1, 2));

// mesi_snoop with one row changed.
Protocol broken_protocol(const std::string& row, const std::string& instead) {
  std::string text = shipped_text("mesi_snoop");
  const std::size_t at = text.find(row);
  if (at == std::string::npos) throw std::logic_error("the protocol has no such row");
  text.replace(at, row.size(), instead);
  return parse_protocol({{"broken.md", text}});
}

// A sharer that keeps its copy while another cache owns the line reads the old value.
TEST(BrokenProtocol, ACopyThatOutlivesAWriteIsCaughtAtTheNextRead) {
  const Protocol broken = broken_protocol(
      "| S, E                                        | Other_GetM                         | free                               "
      "                         | I     |",
      "| S, E | Other_GetM | - | = |");
  SmallMachine small(small_machine(2), broken, {.line_history = true});
  const std::string text = failure_of([&] {
    small.run({[](Cpu& cpu) {
                 cpu.load(kLine);
                 wait_until(cpu, 3000);
                 cpu.load(kLine);
               },
               [](Cpu& cpu) {
                 wait_until(cpu, 1000);
                 cpu.store(kLine, 1);
               }});
  });
  EXPECT_THAT(text, AllOf(HasSubstr("stale value: cache 0 uses line 0x10000"), HasSubstr("history"), HasSubstr("cache 1"),
                          HasSubstr("Other_GetM"), HasSubstr("Own_GetM")));
}

// Memory that ignores a write-back answers with its old value.
TEST(BrokenProtocol, AWriteBackThatIsLostIsCaughtAtTheNextRead) {
  const Protocol broken =
      broken_protocol("| Idle | Data                       | update memory          |", "| Idle | Data | - |");
  SmallMachine small(small_machine(1), broken, {.line_history = true});
  const std::string text = failure_of([&] {
    small.run({[](Cpu& cpu) {
      cpu.store(kLine, 1);
      for (Address other = 1; other <= 4; ++other) cpu.load(kLine + other * kSetStride);
      wait_until(cpu, 3000);
      cpu.load(kLine);
    }});
  });
  EXPECT_THAT(text, AllOf(HasSubstr("stale value"), HasSubstr("0x10000"), HasSubstr("Own_PutM")));
}

}  // namespace
}  // namespace linebounce::test
