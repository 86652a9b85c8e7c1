// The operating system's nodes: which CPUs they have, where their memory is, and which last-level cache each CPU uses.
#include "models/os_nodes.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

#include "models/memory/homes.hpp"
#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Two nodes of two buses of two cores, numbered one after the other.
MachineSpec four_buses() {
  MachineSpec spec = small_nodes(2, 8);
  spec.buses_per_node = 2;
  spec.cpu_order = CpuOrder::fill;
  spec.node.cache_size_kib = 64;
  spec.memory.page_kib = 4;
  return spec;
}

std::vector<int> os_nodes(MachineSpec spec, const std::string& text) {
  spec.os_nodes = text;
  std::vector<int> nodes;
  for (const CpuPlace& place : lay_out(spec).cpus) nodes.push_back(place.os_node);
  return nodes;
}

std::vector<int> caches(const MachineSpec& spec) {
  std::vector<int> numbers;
  for (const CpuPlace& place : lay_out(spec).cpus) numbers.push_back(place.cache);
  return numbers;
}

TEST(OsNodes, AreThoseOfTheInterconnectUnlessTheMachineSaysOtherwise) {
  EXPECT_THAT(os_nodes(four_buses(), ""), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  const MachineLayout layout = lay_out(four_buses());
  EXPECT_THAT(layout.memory_of_os_node, ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_THAT(layout.os_nodes_with_memory, ElementsAre(0, 1));
}

TEST(OsNodes, MayBeOneForTheMachineOrPartsOfANodeOrOneForEachCacheOrAsListed) {
  EXPECT_THAT(os_nodes(four_buses(), "machine"), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(os_nodes(four_buses(), "nps2"), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  EXPECT_THAT(os_nodes(four_buses(), "nps4"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(os_nodes(four_buses(), "cache"), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  EXPECT_THAT(os_nodes(four_buses(), "1 1 0 0"), ElementsAre(1, 1, 1, 1, 0, 0, 0, 0));
  EXPECT_THAT(os_nodes(four_buses(), "0 1 2 2"), ElementsAre(0, 0, 1, 1, 2, 2, 2, 2));
}

TEST(OsNodes, ANodeThatSpansTheInterconnectsHasTheMemoryOfAllOfThem) {
  MachineSpec spec = four_buses();
  spec.os_nodes = "machine";
  const MachineLayout one = lay_out(spec);
  EXPECT_THAT(one.memory_of_os_node, ElementsAre(ElementsAre(0, 1)));
  spec.os_nodes = "nps2";
  const MachineLayout four = lay_out(spec);
  EXPECT_THAT(four.memory_of_os_node, ElementsAre(ElementsAre(0), ElementsAre(0), ElementsAre(1), ElementsAre(1)));
}

TEST(OsNodes, MemoryWithoutCpusIsTheLastNodeUnlessTheListHasItElsewhere) {
  MachineSpec spec = small_nodes(3, 4);
  spec.cpu_nodes = "0 2";
  spec.cpu_order = CpuOrder::fill;
  spec.os_nodes = "machine";
  EXPECT_THAT(lay_out(spec).memory_of_os_node, ElementsAre(ElementsAre(0, 2), ElementsAre(1)));
  spec.os_nodes = "0 0 0";
  EXPECT_THAT(lay_out(spec).memory_of_os_node, ElementsAre(ElementsAre(0, 1, 2)));
}

TEST(OsNodes, ANodeWithoutMemoryTakesThatOfTheNextOne) {
  MachineSpec spec = small_nodes(3, 3);
  spec.memory.nodes = "0 2";
  const MachineLayout layout = lay_out(spec);
  EXPECT_THAT(layout.memory_of_os_node, ElementsAre(ElementsAre(0), ElementsAre(2), ElementsAre(2)));
  EXPECT_THAT(layout.os_nodes_with_memory, ElementsAre(0, 2));
}

TEST(OsNodes, WhatDoesNotFitTheMachineIsRefused) {
  const auto refusal = [](const std::string& text, const std::string& said) {
    EXPECT_THAT([&] { os_nodes(four_buses(), text); }, ThrowsMessage<std::invalid_argument>(HasSubstr(said))) << text;
  };
  refusal("socket", "machine.os_nodes: 'socket' is no node; legal: machine, nps2, nps4, cache, or a number for each of the 4");
  refusal("0 0 1", "lists 3 nodes; legal: one for each of the 4 buses");
  refusal("0 0 2 2", "numbers from 0 without gaps");
  refusal("0 1 1 1", "has node 0 of the interconnect in part");
  MachineSpec three = small_nodes(2, 6);
  EXPECT_THAT([&] { os_nodes(three, "nps2"); }, ThrowsMessage<std::invalid_argument>(HasSubstr("the 3 cores of a node")));
}

TEST(LastLevelCache, IsTheOutermostOneWithASizeElseTheCoresOwn) {
  MachineSpec spec = four_buses();
  EXPECT_THAT(caches(spec), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  GroupSpec group;
  group.name = "L3";
  group.members = 2;
  group.size_kib = 256;
  spec.groups = {group};
  EXPECT_THAT(caches(spec), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  spec.groups.clear();
  spec.node.cache_size_kib = 0;
  EXPECT_THAT(caches(spec), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(HomesOfOsNodes, PagesOfANodeAreInterleavedOverItsMemories) {
  MachineSpec spec = four_buses();
  spec.os_nodes = "machine";
  const MachineLayout layout = lay_out(spec);
  Homes homes(spec, layout, 32);
  homes.place(0x100000, Home::near(layout.cpus.back()));
  const auto home = [&homes](Address at) { return homes.peek(LineAddr(at / 32)); };
  EXPECT_NE(home(0x100000), home(0x101000));
  EXPECT_EQ(home(0x100000), home(0x102000));
  EXPECT_EQ(home(0x100000), home(0x100fe0)) << "a page has one home";
}

// Under first touch, too, the operating system knows only its own nodes.
TEST(HomesOfOsNodes, TheTouchersNodeHasThePage) {
  MachineSpec spec = four_buses();
  spec.memory.placement = Placement::first_touch;
  const MachineLayout usual = lay_out(spec);
  Homes near(spec, usual, 32);
  spec.os_nodes = "machine";
  const MachineLayout layout = lay_out(spec);
  Homes homes(spec, layout, 32);
  std::vector<int> of_usual, of_machine;
  for (Address page = 0; page < 4; ++page) {
    of_usual.push_back(near.home(LineAddr(page * 4096 / 32), 1));
    of_machine.push_back(homes.home(LineAddr(page * 4096 / 32), 1));
  }
  EXPECT_THAT(of_usual, ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(of_machine, ElementsAre(0, 1, 0, 1));
}

}  // namespace
}  // namespace linebounce::test
