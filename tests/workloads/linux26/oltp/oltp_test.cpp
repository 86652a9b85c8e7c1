// The whole workload, scaled down: its parts have the shares that its parameters set.
#include <gmock/gmock.h>

#include <stdexcept>

#include "sim/config/layout_file.hpp"
#include "tests/workloads/kernel_machine.hpp"
#include "tests/workloads/run_workload.hpp"

namespace linebounce::test {

using namespace workloads;
using namespace sim;
namespace {

using Changes = std::map<std::string, ParameterValue>;

// Four CPUs of two nodes, four sessions on each.
Changes small_load(Changes changes = {}) {
  changes.merge(Changes{{"sessions_per_cpu", std::int64_t{4}},
                        {"sessions_per_semaphore", std::int64_t{8}},
                        {"user_instructions", std::int64_t{5000}},
                        {"writers", std::int64_t{2}},
                        {"devices", std::int64_t{4}},
                        {"adapters", std::int64_t{2}},
                        {"service_us", 50.0},
                        {"jiffy_us", 100.0},
                        {"user_shared_lines", std::int64_t{100}},
                        {"user_node_lines", std::int64_t{100}},
                        {"other_shared_lines", std::int64_t{100}},
                        {"other_node_lines", std::int64_t{100}}});
  return changes;
}

Metrics run_load(const Changes& changes) {
  const MachineSpec spec = small_itanium(4);
  SmallMachine small(spec, {}, 500, 10000);
  return run_workload("oltp", small_load(changes), small, spec, load_layout_file("linux_2_6_20", "").layouts);
}

TEST(Oltp, ATransactionIsItsReadsAndOneCommit) {
  const Metrics metrics = run_load({{"reads_per_transaction", std::int64_t{3}}, {"writers", std::int64_t{0}}});
  const double transactions = metrics.values.at("throughput.operations_per_s");
  EXPECT_GT(transactions, 1000);
  EXPECT_NEAR(metrics.values.at("oltp.reads_per_s") / transactions, 3, 0.3);
  EXPECT_NEAR(metrics.values.at("oltp.writes_per_s") / transactions, 0.25, 0.03) << "the log, once for four";
}

TEST(Oltp, AWriteOfTheLogIsForAGroup) {
  const Metrics metrics = run_load({{"commit_group", std::int64_t{1}}, {"writers", std::int64_t{0}}});
  EXPECT_NEAR(metrics.values.at("oltp.writes_per_s") / metrics.values.at("throughput.operations_per_s"), 1, 0.1);
}

TEST(Oltp, WritersWriteWhateverSessionsDo) {
  const Metrics metrics = run_load({{"writer_contexts", std::int64_t{2}}});
  EXPECT_GT(metrics.values.at("oltp.writes_per_s"), metrics.values.at("throughput.operations_per_s"));
}

// Little's law: two writers each have up to 8 writes of 500 us under way, so they complete up to 32,000 per second, however
// many contexts each writer uses.
class WriterContexts : public testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(, WriterContexts, testing::Values(1, 4));

TEST_P(WriterContexts, ShareOneDepth) {
  const Metrics metrics = run_load({{"writer_contexts", GetParam()},
                                    {"writer_depth", std::int64_t{8}},
                                    {"writer_batch", std::int64_t{4}},
                                    {"commit_group", std::int64_t{16}},
                                    {"service_us", 500.0}});
  EXPECT_GT(metrics.values.at("oltp.writes_per_s"), 12000);
  EXPECT_LT(metrics.values.at("oltp.writes_per_s"), 36000);
}

TEST(Oltp, MoreContextsThanABatchHasWritesAreRefused) {
  EXPECT_THROW(run_load({{"writer_contexts", std::int64_t{9}}, {"writer_batch", std::int64_t{8}}}), std::invalid_argument);
}

TEST(Oltp, AWritersBatchesMustFitInAContextsRing) {
  try {
    run_load({{"writer_depth", std::int64_t{100}}, {"writer_batch", std::int64_t{24}}});
    FAIL() << "124 of 123";
  } catch (const std::invalid_argument& refused) {
    EXPECT_THAT(refused.what(), testing::StartsWith("workload.writer_depth: 100 and writer_batch 24 "));
    EXPECT_THAT(refused.what(), testing::HasSubstr("legal: both together 2 to 123"));
  }
}

TEST(Oltp, AGroupThatIsLargerThanAllSessionsIsRefused) {
  EXPECT_THROW(run_load({{"commit_group", std::int64_t{17}}}), std::invalid_argument);
}

}  // namespace
}  // namespace linebounce::test
