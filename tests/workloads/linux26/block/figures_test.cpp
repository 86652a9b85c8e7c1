// Every row of OLS 2007's figures 11 to 15 with at least 50 samples is a miss here: the same function touches the same field
// in the same way. Only names are compared here; the experiments compare the numbers of misses and their sources.
//
// Two rows are left out: blk_queue_start_tag loads tag_map in one bundle with max_depth of the same line, and sd_init_command
// loads `changed` 24 bundles after `timeout`. Itanium counts the second load, too, because the line is still on its way. A
// CPU here waits for the first load, so the second hits, unless the line was lost in between.
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "sim/config/machine_file.hpp"
#include "tests/workloads/linux26/block/block_machine.hpp"

namespace linebounce::test {

using namespace workloads;
using namespace sim;
namespace {

using Row = std::tuple<std::string, std::string, AccessKind>;  // function, structure.field, access

const std::vector<Row>& rows_of_the_figures() {
  static const std::vector<Row> kRows = {
      {"generic_make_request", "request_queue.queue_flags", AccessKind::load},
      {"scsi_device_unbusy", "request_queue.queue_lock", AccessKind::load},
      {"blk_queue_start_tag", "blk_queue_tag.max_depth", AccessKind::load},
      {"blk_queue_end_tag", "blk_queue_tag.real_max_depth", AccessKind::load},
      {"find_next_zero_bit", "tag_map_bitmap.tag_map", AccessKind::load},
      {"blk_queue_end_tag", "tag_map_bitmap.tag_map", AccessKind::load},
      {"__scsi_get_command", "scsi_host.cmd_pool", AccessKind::load},
      {"scsi_put_command", "scsi_host.free_list_lock", AccessKind::atomic},
      {"qla2x00_queuecommand", "scsi_host.default_lock", AccessKind::atomic},
      {"ia64_spinlock_contention", "scsi_host.default_lock", AccessKind::load},
      {"scsi_request_fn", "scsi_host.default_lock", AccessKind::atomic},
      {"scsi_device_unbusy", "scsi_host.default_lock", AccessKind::atomic},
      {"qla2x00_queuecommand", "scsi_host.host_lock", AccessKind::load},
      {"scsi_device_unbusy", "scsi_host.host_lock", AccessKind::load},
      {"scsi_request_fn", "scsi_host.host_lock", AccessKind::load},
      {"scsi_request_fn", "scsi_device.host", AccessKind::load},
      {"qla2x00_process_completed_request", "scsi_device.queue_depth", AccessKind::load},
      {"__scsi_done", "scsi_device.iodone_cnt", AccessKind::atomic},
      {"sd_init_command", "scsi_device.timeout", AccessKind::load},
  };
  return kRows;
}

TEST(Figures11To15, EachRowIsSeen) {
  const MachineSpec spec = load_machine("itanium2_two_node_16way").spec;
  BlockOptions options = two_adapters(lay_out(spec), 3);
  options.topology.service_us = 500;
  BlockMachine tested(spec, options, {.batches = 15, .batch = 8});
  tested.run();
  std::map<Row, int> seen;
  for (const Miss& miss : tested.small.misses()) {
    const Symbol symbol = tested.symbol(miss);
    ++seen[{tested.space.functions()[miss.function].name, symbol.structure + "." + symbol.field, miss.access}];
  }
  for (const Row& row : rows_of_the_figures()) {
    EXPECT_GT(seen[row], 0) << std::get<0>(row) << " " << std::get<1>(row) << " " << static_cast<int>(std::get<2>(row));
  }
}

}  // namespace
}  // namespace linebounce::test
