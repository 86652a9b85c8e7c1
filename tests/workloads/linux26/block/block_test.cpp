// I/Os go down to the disks and come back, each once, on the CPUs that the adapters interrupt, and leave nothing behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "tests/workloads/linux26/block/block_machine.hpp"
#include "workloads/linux26/block/block_structures.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

BlockOptions options_of(const MachineSpec& spec, int disks = 2) {
  return two_adapters(lay_out(spec), disks);
}

void expect_each_done_once(const BlockMachine& tested) {
  for (std::size_t io = 0; io < tested.ios(); ++io) EXPECT_EQ(tested.completions[io].size(), 1U) << "I/O " << io;
}

// Checks the structures' values without an I/O under way.
void expect_idle(BlockMachine& tested, const BlockOptions& options, Cpu& cpu) {
  const auto expect = [&](const char* structure, int number, const char* field, Value value) {
    EXPECT_EQ(tested.value(cpu, structure, number, field), value) << structure << "." << field;
  };
  const auto expect_empty = [&](const char* structure, int number, const char* list) {
    EXPECT_TRUE(tested.empty(cpu, structure, number, list)) << structure << "." << list;
  };
  for (int device = 0; device < static_cast<int>(options.topology.devices.size()); ++device) {
    for (const char* field : {"rq.count[READ]", "rq.count[WRITE]", "nr_sorted", "in_flight", "__queue_lock"})
      expect("request_queue", device, field, 0);
    expect("request_queue", device, "unplug_timer.entry.next", 0);
    expect("blk_queue_tag", device, "busy", 0);
    EXPECT_EQ(cpu.load(tested.address_of(fmt::format("tag_map_bitmap[{}]", device))), 0U);
    expect("scsi_device", device, "device_busy", 0);
    const Value started = tested.value(cpu, "scsi_device", device, "iorequest_cnt");
    EXPECT_GT(started, 0U);
    expect("scsi_device", device, "iodone_cnt", started);
    expect("scsi_device", device, "sdev_gendev.kobj.kref", 1);
    expect_empty("request_queue", device, "queue_head");
    expect_empty("noop_data", device, "queue");
    expect_empty("blk_queue_tag", device, "busy_list");
    expect_empty("scsi_device", device, "cmd_list");
    expect_empty("scsi_device", device, "starved_entry");
  }
  for (int host = 0; host < static_cast<int>(options.topology.adapters.size()); ++host) {
    expect("scsi_host", host, "host_busy", 0);
    expect_empty("scsi_host", host, "starved_list");
  }
}

struct Case {
  std::string name;
  std::function<void(BlockOptions&, Load&)> change;
};

class BlockLayerWith : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    , BlockLayerWith,
    testing::Values(Case{"defaults", [](BlockOptions&, Load&) {}},
                    Case{"few_tags", [](BlockOptions& options, Load&) { options.queue_depth = 1; }},
                    Case{"a_full_host", [](BlockOptions& options, Load&) { options.can_queue = 2; }},
                    Case{"few_requests", [](BlockOptions& options, Load&) { options.nr_requests = 2; }},
                    Case{"sync", [](BlockOptions&, Load& load) { load.sync = true; }},
                    Case{"no_plug", [](BlockOptions& options, Load&) { options.plug = false; }},
                    Case{"timer_unplugs",
                         [](BlockOptions& options, Load& load) {
                           load.unplug = false;
                           load.batch = 2;
                           options.unplug_delay_us = 200;
                         }},
                    Case{"completion_at_submitter", [](BlockOptions& options, Load&) { options.complete_on_submitter = true; }},
                    Case{"batched_deletes_of_timers", [](BlockOptions&, Load& load) { load.batch_deletes = true; }},
                    Case{"disks_that_answer_at_once", [](BlockOptions& options, Load&) { options.topology.service_us = 0.1; }}),
    [](const auto& tested) { return tested.param.name; });

TEST_P(BlockLayerWith, CompletesEveryIoOnceAndLeavesNothingBehind) {
  const MachineSpec spec = small_itanium(4);
  BlockOptions options = options_of(spec);
  Load load;
  GetParam().change(options, load);
  BlockMachine tested(spec, options, load);
  tested.run([&](Cpu& cpu) { expect_idle(tested, options, cpu); });
  expect_each_done_once(tested);
}

// There is memory for only a fraction of the requests and commands that are made over time.
TEST(BlockLayer, GivesAllMemoryBack) {
  const MachineSpec spec = small_itanium(4);
  BlockOptions options = options_of(spec);
  options.most_ios = 64;
  BlockMachine tested(spec, options, {.batches = 60, .batch = 16});
  tested.run();
  EXPECT_GT(tested.ios(), 3U * 2U * static_cast<std::size_t>(objects_per_node(tested.kernel, options)));
  expect_each_done_once(tested);
}

TEST(BlockLayer, InterruptsGoToTheAdaptersCpusInTurn) {
  const MachineSpec spec = small_itanium(4);
  const BlockOptions options = options_of(spec);
  BlockMachine tested(spec, options, {});
  tested.run();
  std::vector<std::set<int>> used(options.topology.adapters.size());
  for (std::size_t io = 0; io < tested.ios(); ++io) {
    const auto device = static_cast<std::size_t>(tested.io(io).device);
    used.at(static_cast<std::size_t>(options.topology.devices[device].adapter)).insert(tested.completions[io].at(0).cpu);
  }
  for (std::size_t adapter = 0; adapter < used.size(); ++adapter) {
    const std::vector<int>& cpus = options.topology.adapters[adapter].interrupt_cpus;
    EXPECT_EQ(used[adapter], std::set<int>(cpus.begin(), cpus.end()));
  }
}

TEST(BlockLayer, WithAQueueForEachCpuTheSubmitterIsInterrupted) {
  const MachineSpec spec = small_itanium(4);
  BlockOptions options = options_of(spec);
  options.complete_on_submitter = true;
  BlockMachine tested(spec, options, {});
  tested.run();
  for (std::size_t io = 0; io < tested.ios(); ++io) EXPECT_EQ(tested.completions[io].at(0).cpu, tested.submitter_of(io));
}

}  // namespace
}  // namespace linebounce::test
