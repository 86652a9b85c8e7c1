// Objects whose layouts are data: where they begin in a line, and where their fields are.
#include "workloads/program/object.hpp"

#include <gtest/gtest.h>

#include "workloads/program/layout_set.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

Layout based(int base) {
  return {.name = "rq", .size = 40, .fields = {{"lock", 0, 4}, {"clock", 8, 8}, {"alien", 16, 8}}, .base_offset = base};
}

MachineLayout machine_of(int cpus) {
  MachineLayout machine;
  machine.cpus.resize(static_cast<std::size_t>(cpus));
  return machine;
}

TEST(BaseOffset, EveryObjectBeginsThereInALine) {
  LineStore store(128);
  AddressSpace space(store);
  Address before = 0;
  for (const int base : {80, 80, 0, 120, 8}) {
    const Address at = space.place(based(base), "rq");
    EXPECT_EQ(at % 128, static_cast<Address>(base));
    EXPECT_GE(at, before + (before > 0 ? 40 : 0)) << "objects overlap";
    EXPECT_LT(at, before + (before > 0 ? 40 + 128 : 0x20000)) << "a line is left out";
    before = at;
  }
}

TEST(BaseOffset, OnAMachineOfShorterLinesItCountsModuloTheLine) {
  LineStore store(32);
  AddressSpace space(store);
  EXPECT_EQ(space.place(based(80), "rq") % 32, 80U % 32);
}

TEST(BaseOffset, AnAlignmentGivenByTheProgramWins) {
  LineStore store(128);
  AddressSpace space(store);
  EXPECT_EQ(space.place(based(80), "rq", 128) % 128, 0U);
}

TEST(BaseOffset, FieldsAreNamedAcrossTheLinesEnd) {
  LineStore store(128);
  AddressSpace space(store);
  const Address at = space.place(based(120), "rq");
  EXPECT_EQ(space.symbol(space.find(at)).field, "lock");
  EXPECT_EQ(space.symbol(space.find(at)).offset, 120);
  EXPECT_EQ(space.symbol(space.find(at + 8)).field, "clock");
  EXPECT_EQ(space.symbol(space.find(at + 8)).line, 1);
  EXPECT_EQ(space.symbol(space.find(at + 8)).offset, 0);
}

TEST(Sections, ReadMostlyFieldsLieOnLinesOfTheirOwn) {
  LineStore store(128);
  AddressSpace space(store);
  Layout layout = based(80);
  layout.fields[2] = {"alien", 0, 8, Section::read_mostly};
  const Object object = place_object(space, layout, "rq[0]", machine_of(2));
  const Object other = place_object(space, layout, "rq[1]", machine_of(2));
  const FieldPlace alien = field_of(layout, "alien");
  EXPECT_EQ(object.at(alien, 0) % 128, 0U);
  EXPECT_EQ(object.at(alien, 1), object.at(alien, 0)) << "one for all CPUs";
  EXPECT_GE(other.address() / 128, object.at(alien, 0) / 128 + 1) << "the next object shares its line";
  EXPECT_EQ(space.symbol(space.find(object.at(alien, 0))).structure, "rq.read_mostly");
  EXPECT_EQ(space.symbol(space.find(object.at(alien, 0))).field, "alien");
  EXPECT_EQ(space.symbol(space.find(object.address() + 16)).field, "") << "it has left the object";
}

TEST(Sections, EachCpuHasItsPerCpuFieldsOnLinesOfItsOwn) {
  LineStore store(128);
  AddressSpace space(store);
  Layout layout = based(80);
  layout.fields[1] = {"clock", 0, 8, Section::per_cpu};
  layout.fields[2] = {"alien", 8, 8, Section::per_cpu};
  const Object object = place_object(space, layout, "rq[0]", machine_of(3));
  const FieldPlace clock = field_of(layout, "clock");
  const FieldPlace alien = field_of(layout, "alien");
  for (int cpu = 0; cpu < 3; ++cpu) {
    const Address own = object.at(clock, cpu);
    const Address behind = object.at(alien, cpu);
    EXPECT_EQ(own % 128, 0U);
    EXPECT_EQ(behind, own + 8);
    const Symbol symbol = space.symbol(space.find(behind));
    EXPECT_EQ(symbol.object, "rq[0].cpu[" + std::to_string(cpu) + "]");
    EXPECT_EQ(symbol.field, "alien");
  }
  EXPECT_EQ(object.at(field_of(layout, "lock"), 2), object.address());
}

TEST(Sections, APolicyForOneCpusPartIsRefusedBecauseThePartsAreConsecutive) {
  LineStore store(128);
  MachineSpec spec;
  spec.memory.page_kib = 4;
  const MachineLayout machine = machine_of(3);
  Homes homes(spec, machine, 128);
  AddressSpace space(store, &homes, {{"rq[0].cpu[1]", Home::by(Placement::interleaved)}});
  Layout layout = based(80);
  layout.fields[1] = {"clock", 0, 8, Section::per_cpu};
  EXPECT_THROW(place_object(space, layout, "rq[0]", machine), std::invalid_argument);
  EXPECT_NO_THROW(place_object(space, layout, "rq[1]", machine));
}

TEST(FieldOf, APartAndTheWholeAndEachNameOfSharedBytesAreFound) {
  const Layout layout{.name = "s",
                      .size = 64,
                      .fields = {{"wait.next", 8, 8}, {"wait.prev", 16, 8}, {"ptr|bits", 24, 8}, {"sd[0].lock", 32, 4}}};
  EXPECT_EQ(field_of(layout, "wait.prev").offset, 16);
  EXPECT_EQ(field_of(layout, "wait").offset, 8);
  EXPECT_EQ(field_of(layout, "wait").size, 16);
  EXPECT_EQ(field_of(layout, "bits").offset, 24);
  EXPECT_EQ(field_of(layout, "ptr|bits").offset, 24);
  EXPECT_EQ(group_of("sd[0].lock"), "sd");
  EXPECT_THROW(field_of(layout, "bit"), std::invalid_argument);
  EXPECT_THROW(field_of(layout, "next"), std::invalid_argument);
}

}  // namespace
}  // namespace linebounce::test
