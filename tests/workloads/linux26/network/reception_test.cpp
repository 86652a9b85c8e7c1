// Which packets are received and which are lost, and how interrupts and softirqs share the work.
#include "workloads/linux26/network/reception.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tests/models/support/small_machine.hpp"
#include "tests/workloads/run_workload.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

TEST(PacketSource, AFlowIsTenPacketsToADestinationInTheNetwork) {
  ReceptionOptions options;
  options.flows = 4;
  PacketSource source(7, options);
  std::map<Value, int> packets;
  for (int i = 0; i < 4000; ++i) ++packets[source.next_destination()];
  int whole = 0;
  for (const auto& [destination, count] : packets) {
    EXPECT_EQ(destination >> 24, 5U);
    EXPECT_LE(count, 10);
    whole += count == 10 ? 1 : 0;
  }
  EXPECT_GE(whole, 390);
}

TEST(PacketSource, TheSameSeedSendsTheSamePackets) {
  const ReceptionOptions options;
  PacketSource one(3, options);
  PacketSource again(3, options);
  PacketSource other(4, options);
  int same = 0;
  for (int i = 0; i < 100; ++i) {
    const Value destination = one.next_destination();
    EXPECT_EQ(again.next_destination(), destination);
    same += other.next_destination() == destination ? 1 : 0;
  }
  EXPECT_LT(same, 5);
}

struct Interface {
  explicit Interface(const ReceptionOptions& options, std::int64_t cycles_for_a_packet = 100)
      : spec(small_machine(1)),
        small(spec),
        space(small.machine.store(), nullptr),
        locks(space, 1),
        interrupts(1),
        reception({space, locks, spec, small.machine.layout(), 1}, interrupts, options,
                  [this, cycles_for_a_packet](Cpu& cpu, Value) {
                    cpu.compute(cycles_for_a_packet);
                    cpu.now();
                    ++taken;
                    return true;
                  }) {}

  // Runs for this many microseconds; a program gets the time that reception leaves.
  Metrics run(std::int64_t us) {
    small.machine.set_functions(space.functions().size());
    small.run({[&](Cpu& cpu) {
      interrupts.defer_rest_to([](Cpu&) {}, 100000);  // there is no softirq thread
      interrupts.start(cpu);
      reception.start(cpu);
      while (cpu.now_ns() < static_cast<double>(us) * 1000) cpu.compute(500);
    }});
    Metrics metrics;
    const std::function<const Cpu&(int)> cpu = [this](int number) -> const Cpu& { return small.machine.cpu(number); };
    reception.figures().report({static_cast<double>(us) * 1000, cpu, 1}, metrics);
    return metrics;
  }

  MachineSpec spec;
  SmallMachine small;
  AddressSpace space;
  LockSet locks;
  Interrupts interrupts;
  int taken = 0;
  Reception reception;
};

ReceptionOptions hundred_thousand() {
  ReceptionOptions options;
  options.packet_instructions = 100;
  options.interrupt_instructions = 200;
  return options;
}

class ReceptionBothWays : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, ReceptionBothWays, testing::Values("netif_rx", "napi"));

// One packet every 10 us, until 50 have come.
TEST_P(ReceptionBothWays, AnIdleCpuTakesEveryPacket) {
  ReceptionOptions options = hundred_thousand();
  options.reception = GetParam();
  options.packets = 50;
  Interface interface(options);
  const Metrics metrics = interface.run(1000);
  EXPECT_EQ(interface.taken, 50);
  EXPECT_EQ(metrics.values.at("packets.passed_on"), 50);
  EXPECT_EQ(metrics.values.at("packets.lost_in_ring") + metrics.values.at("packets.lost_in_backlog"), 0);
}

// A packet takes 20 us and comes every 10 us: half are lost, in the queue after the interrupt or, with NAPI, in the ring.
TEST_P(ReceptionBothWays, PacketsBeyondTheCpusCapacityAreLost) {
  ReceptionOptions options = hundred_thousand();
  options.reception = GetParam();
  options.ring = 16;
  options.backlog = 30;
  options.packets = 1000;
  Interface interface(options, 20000);
  const Metrics metrics = interface.run(10000);
  const double ring = metrics.values.at("packets.lost_in_ring");
  const double backlog = metrics.values.at("packets.lost_in_backlog");
  EXPECT_GT(ring + backlog, 400);
  EXPECT_LT(ring + backlog, 600);
  EXPECT_EQ(ring + backlog + interface.taken, 1000);
  EXPECT_EQ(options.reception == "napi" ? backlog : ring, 0);
}

// The interface waits 125 us between interrupts, and packets that arrive in between are received together.
TEST(Reception, TheInterfaceInterruptsNoMoreOftenThanItMay) {
  ReceptionOptions options = hundred_thousand();
  options.interrupts_per_s = 8000;
  Interface interface(options);
  const Metrics metrics = interface.run(5000);
  EXPECT_LE(metrics.values.at("packets.interrupts_per_s"), 8200);
  EXPECT_GE(metrics.values.at("packets.interrupts_per_s"), 7000);
  EXPECT_GT(interface.taken, 450);
}

// Each poll finds twice as many packets as the previous one, up to the limit of 64; from then on polling never ends.
TEST(Reception, WithNapiThereAreNoInterruptsWhileThereAreAlwaysPackets) {
  ReceptionOptions options = hundred_thousand();
  options.reception = "napi";
  options.interrupts_per_s = 1e6;
  options.packets = 2000;
  Interface interface(options, 20000);
  const Metrics metrics = interface.run(20000);
  EXPECT_LE(metrics.values.at("packets.interrupts_per_s") * 0.02, 8);
  EXPECT_GT(interface.taken, 1000);
}

}  // namespace
}  // namespace linebounce::test
