#include "sim/results/csv.hpp"

#include <gmock/gmock.h>

#include "sim/results/files.hpp"

namespace linebounce {
namespace {

using testing::ElementsAre;

std::vector<std::string> names(const std::vector<CsvFile>& files) {
  std::vector<std::string> result;
  for (const CsvFile& file : files) result.push_back(file.name);
  return result;
}

TEST(Csv, EveryPointHasTheSameFiles) {
  EXPECT_THAT(names(csv_files(0, PointData{})), ElementsAre("latency.csv", "lines.csv", "locks.csv", "transitions.csv"));
}

TEST(Csv, OnlyARunThatMeasuredAMatrixHasOne) {
  PointData data;
  data.matrix = {{0, 3, 1, "Modified", 132.5}};
  const CsvFile file = csv_files(2, data).back();
  EXPECT_EQ(file.name, "matrix.csv");
  EXPECT_EQ(file.content, "point,from_cpu,to_cpu,home_node,state,latency_ns\n2,0,3,1,Modified,132.5\n");
  const auto points = read_matrix_csv(file.content);
  ASSERT_EQ(points.at(2).size(), 1U);
  EXPECT_EQ(points.at(2)[0].to_cpu, 3);
  EXPECT_EQ(points.at(2)[0].latency_ns, 132.5);
}

TEST(Csv, EveryRowBeginsWithItsPoint) {
  PointData data;
  data.transitions = {{"cache", "I", "Own_GetS[alone]", 12}};
  EXPECT_EQ(csv_files(3, data)[3].content, "point,controller,state,event,count\n3,cache,I,Own_GetS[alone],12\n");
}

TEST(Csv, FieldsWithCommasOrQuotesAreQuoted) {
  EXPECT_EQ(csv_field("rq[3]"), "rq[3]");
  EXPECT_EQ(csv_field("operator,"), "\"operator,\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
}

TEST(Csv, ConcatenationKeepsOneHeader) {
  EXPECT_EQ(concatenate_csv({"a,b\n0,1\n", "a,b\n", "a,b\n2,3\n"}), "a,b\n0,1\n2,3\n");
}

TEST(Csv, ReadingLatenciesBackAddsUpThePoints) {
  PointData data;
  data.latency = {{"kernel", "l2", 9, 12.857142857, 5}};
  const std::string both = concatenate_csv({csv_files(0, data)[0].content, csv_files(1, data)[0].content});
  const auto rows = read_latency_csv(both);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].count, 10);
  EXPECT_DOUBLE_EQ(rows[0].latency_ns, 12.8571);
}

TEST(Csv, ADamagedLatencyFileIsAnInputErrorThatShowsTheRow) {
  const std::string header = "point,kind,source,latency_cycles,latency_ns,count\n";
  EXPECT_THROW(read_latency_csv("something else\n"), InputError);
  try {
    read_latency_csv(header + "0,kernel,l2,nine,12.9,5\n");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("nine"));
  }
}

}  // namespace
}  // namespace linebounce
