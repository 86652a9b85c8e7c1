// Which hardware thread each CPU is, for each name of an order. The machine: two nodes of two cores with two threads each.
#include "models/machine_layout.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

MachineSpec machine_of(int cpus) {
  MachineSpec spec = small_nodes(2, cpus);
  spec.cpus_present = 8;
  spec.cpu.threads_per_core = 2;
  return spec;
}

// "node.core.thread" for each CPU; cores are numbered within their bus.
std::vector<std::string> places(const MachineSpec& spec) {
  std::vector<std::string> texts;
  for (const CpuPlace& place : lay_out(spec).cpus) {
    texts.push_back(std::to_string(place.node) + "." + std::to_string(place.core) + "." + std::to_string(place.thread));
  }
  return texts;
}

TEST(CpuOrder, SpreadGoesOverNodesThenCoresThenThreads) {
  EXPECT_THAT(places(machine_of(8)), ElementsAre("0.0.0", "1.2.0", "0.1.0", "1.3.0", "0.0.1", "1.2.1", "0.1.1", "1.3.1"));
}

TEST(CpuOrder, FillTakesAllThreadsOfACoreFirst) {
  MachineSpec spec = machine_of(5);
  spec.cpu_order = CpuOrder::fill;
  EXPECT_THAT(places(spec), ElementsAre("0.0.0", "0.0.1", "0.1.0", "0.1.1", "1.2.0"));
}

TEST(CpuOrder, FillCoresTakesSecondThreadsLast) {
  MachineSpec spec = machine_of(6);
  spec.cpu_order = CpuOrder::fill_cores;
  EXPECT_THAT(places(spec), ElementsAre("0.0.0", "0.1.0", "1.2.0", "1.3.0", "0.0.1", "0.1.1"));
}

// Threads 6 and 7 are those of the last core. Cores without a CPU are not part of the machine.
TEST(CpuOrder, AListNamesThreadsAsFillNumbersThem) {
  MachineSpec spec = machine_of(3);
  spec.cpu_list = "6 0 7";
  EXPECT_THAT(places(spec), ElementsAre("1.1.0", "0.0.0", "1.1.1"));
  EXPECT_THAT(lay_out(spec).cores_on_bus, ElementsAre(1, 1));
}

// Each node has four buses, and each pair of them is a group.
TEST(Groups, AreLaidOutNodeByNode) {
  MachineSpec spec = small_nodes(2, 8);
  spec.buses_per_node = 4;
  spec.groups.emplace_back().members = 2;
  const MachineLayout layout = lay_out(spec);
  std::vector<int> nodes;
  for (const MachineLayout::Group& group : layout.groups) nodes.push_back(group.node);
  EXPECT_THAT(nodes, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(layout.groups[2].members, ElementsAre(4, 5));
  EXPECT_EQ(layout.place_of_bus[5].parent, layout.first_group() + 2);
  EXPECT_EQ(layout.place_of_bus[5].number, 1);
}

TEST(MemoryOfANode, ReplacesOnlyWhatItStates) {
  MachineSpec spec = small_nodes(2, 2);
  spec.memory = {.latency_ns = 100, .banks = 4, .bank_busy_ns = 40, .bandwidth_mb_per_s = 800};
  spec.directory.line_busy_ns = 7;
  MemoryOfNodeSpec& own = spec.memory_of_node.emplace_back();
  own.name = "1";
  own.bank_busy_ns = 60;
  own.bandwidth_mb_per_s = 500;
  own.banks = 8;
  own.directory_latency_ns = 25;
  const MachineSpec first = as_of_node(spec, 0), second = as_of_node(spec, 1);
  EXPECT_EQ(first.memory.bank_busy_ns, 40);
  EXPECT_EQ(first.memory.bandwidth_mb_per_s, 800);
  EXPECT_EQ(first.memory.banks, 4);
  EXPECT_EQ(first.directory.latency_ns, 20);
  EXPECT_EQ(second.memory.latency_ns, 100) << "as in [memory]";
  EXPECT_EQ(second.memory.bank_busy_ns, 60);
  EXPECT_EQ(second.memory.bandwidth_mb_per_s, 500);
  EXPECT_EQ(second.memory.banks, 8);
  EXPECT_EQ(second.directory.latency_ns, 25);
  EXPECT_EQ(second.directory.line_busy_ns, 7) << "as in [directory]";
}

// A study varies the number of CPUs under one list.
TEST(CpuOrder, AListMayNameMoreThreadsThanThereAreCpus) {
  MachineSpec spec = machine_of(2);
  spec.cpu_list = "6 0 7 3";
  EXPECT_THAT(places(spec), ElementsAre("1.1.0", "0.0.0"));
  EXPECT_THAT(lay_out(spec).cores_on_bus, ElementsAre(1, 1));
}

TEST(CpuOrder, AListThatDoesNotFitIsRefused) {
  MachineSpec spec = machine_of(3);
  const auto refusal = [&spec](const char* list) {
    spec.cpu_list = list;
    return [&spec] { lay_out(spec); };
  };
  EXPECT_THAT(refusal("0 1"), ThrowsMessage<std::invalid_argument>(HasSubstr("names 2 hardware threads for 3 CPUs")));
  EXPECT_THAT(refusal("0 1 8"), ThrowsMessage<std::invalid_argument>(HasSubstr("legal: numbers from 0 to 7")));
  EXPECT_THAT(refusal("0 1 x"), ThrowsMessage<std::invalid_argument>(HasSubstr("'x' is not a hardware thread")));
  EXPECT_THAT(refusal("0 1 0"), ThrowsMessage<std::invalid_argument>(HasSubstr("hardware thread 0 is named twice")));
}

}  // namespace
}  // namespace linebounce::test
