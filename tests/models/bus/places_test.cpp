// What the distance between two cores of a bus, and from a core to the bus's edge, adds to the transfer of a line. Without
// distances, a line takes 116 cycles from another cache at time 2000, and 146 from memory (small_machine.hpp).
#include <gmock/gmock.h>

#include <stdexcept>

#include "models/bus/bus_places.hpp"
#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

using ::testing::HasSubstr;

double cost_of_dirty_line(const MachineSpec& spec) {
  SmallMachine small(spec);
  double cycles = 0;
  small.run(
      {[&](Cpu& cpu) { cycles = cycles_from(cpu, 2000, [&] { cpu.load(kLine); }); }, [](Cpu& cpu) { cpu.store(kLine, 1); }});
  return cycles;
}

TEST(BusPlaces, ALineFromAnotherCoreIsUnderWayForTheWaysOfBoth) {
  MachineSpec spec = small_machine(2);
  spec.bus.way_ns = "7 20";
  EXPECT_EQ(cost_of_dirty_line(spec), 116 + 7 + 20);
}

TEST(BusPlaces, EachColumnAndRowBetweenTwoCoresIsAHop) {
  MachineSpec spec = small_machine(2);
  spec.bus.places = "3,0 1,1";
  spec.bus.hop_ns = 5;
  EXPECT_EQ(cost_of_dirty_line(spec), 116 + 3 * 5);
}

TEST(BusPlaces, ALineFromMemoryComesOverTheEdgeAndMakesNoHops) {
  MachineSpec spec = small_machine(1);
  spec.bus.way_ns = "1000";
  spec.bus.edge_way_ns = "30";
  spec.bus.places = "9,9";
  spec.bus.hop_ns = 100;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 146 + 30); }});
}

// CPUs 0 and 2 are on the first bus, CPUs 1 and 3 on the second.
TEST(BusPlaces, ALineBetweenTwoBusesPaysTheWayToTheEdgeOfBoth) {
  MachineSpec spec = small_nodes(2, 4);
  spec.bus.edge_way_ns = "0 17 0 40";
  SmallMachine small(spec);
  double alike = 0;
  double far_taker = 0;
  double far_giver = 0;
  small.run({[&](Cpu& cpu) {
               alike = cycles_from(cpu, 20000, [&] { cpu.load(kLine); });
               far_giver = cycles_from(cpu, 40000, [&] { cpu.load(kLine + kSetStride); });
             },
             [](Cpu& cpu) {
               cpu.store(kLine, 1);
               cpu.store(kLine + 32, 1);
             },
             [&](Cpu& cpu) { far_taker = cycles_from(cpu, 30000, [&] { cpu.load(kLine + 32); }); },
             [](Cpu& cpu) { cpu.store(kLine + kSetStride, 1); }});
  EXPECT_EQ(far_taker, alike + 17);
  EXPECT_EQ(far_giver, alike + 40);
}

// An upgrade transfers no line, so the way adds nothing.
TEST(BusPlaces, WithoutPositionsNoLatencyIsAdded) {
  MachineSpec spec = small_machine(2);
  spec.bus.way_ns = "50 50";
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
               cpu.load(kLine);
               EXPECT_EQ(cycles_from(cpu, 4000, [&] { cpu.store(kLine, 1); }), 76);
             },
             [](Cpu& cpu) { cpu.load(kLine); }});
}

// The machine has four cores, but CPUs only on the first and the last.
TEST(BusPlaces, CoresThatAreNotInUseKeepTheirPlaces) {
  MachineSpec spec = small_machine(4);
  spec.cpus = 2;
  spec.cpu_list = "3 0";
  spec.bus.way_ns = "1 2 3 4";
  const MachineLayout layout = lay_out(spec);
  const std::array clocks = {spec.cpu.clock, spec.bus.clock};
  const Timebase timebase(clocks);
  const BusPlaces places = places_on_bus(spec, layout, 0, timebase);
  ASSERT_EQ(places.cores.size(), 2U);
  EXPECT_EQ(timebase.to_ns(places.cores[0].way), 1);
  EXPECT_EQ(timebase.to_ns(places.cores[1].way), 4);
}

TEST(BusPlaces, AnUnknownPositionIsRefusedByName) {
  const auto refusal = [](auto change) -> std::string {
    MachineSpec spec = small_machine(2);
    change(spec.bus);
    try {
      core_places(spec, lay_out(spec));
    } catch (const std::invalid_argument& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_THAT(refusal([](BusSpec& bus) { bus.way_ns = "1 fast"; }), HasSubstr("machine.bus.way_ns: 'fast' is not a latency"));
  EXPECT_THAT(refusal([](BusSpec& bus) { bus.edge_way_ns = "-1"; }),
              HasSubstr("machine.bus.edge_way_ns: '-1' is not a latency"));
  EXPECT_THAT(refusal([](BusSpec& bus) { bus.way_ns = "1 2 3"; }), HasSubstr("3 values, but the machine has 2 cores"));
  EXPECT_THAT(refusal([](BusSpec& bus) { bus.places = "1,"; }), HasSubstr("machine.bus.places: '1,' is not a place"));
  EXPECT_THAT(refusal([](BusSpec& bus) { bus.places = "0,0 3"; }), HasSubstr("'3' is not a place"));
}

}  // namespace
}  // namespace linebounce::test
