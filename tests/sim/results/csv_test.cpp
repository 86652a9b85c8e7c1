#include "sim/results/csv.hpp"

#include <gmock/gmock.h>

#include "sim/results/result_files.hpp"

namespace linebounce::sim {
namespace {

using testing::ElementsAre;

std::vector<std::string> names(const std::vector<CsvFile>& files) {
  std::vector<std::string> result;
  for (const CsvFile& file : files) result.push_back(file.name);
  return result;
}

TEST(Csv, EveryPointHasTheSameFiles) {
  EXPECT_THAT(names(csv_files(0, PointData{})),
              ElementsAre("latency.csv", "lines.csv", "locks.csv", "transitions.csv", "cpi.csv"));
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

TEST(Csv, OnlyARunWithQuantitiesOverTimeHasSeries) {
  PointData data;
  data.series = {{0, "rcu.pending", 12}, {4000, "rcu.pending", 30.5}, {0, "rcu.grace_period_ms", 1.25}};
  const CsvFile file = csv_files(3, data).back();
  EXPECT_EQ(file.name, "series.csv");
  EXPECT_EQ(file.content,
            "point,time_us,name,value\n3,0,rcu.pending,12\n3,4000,rcu.pending,30.5\n3,0,rcu.grace_period_ms,1.25\n");
  data.series = read_series_csv(file.content).at(3);
  EXPECT_EQ(csv_files(3, data).back().content, file.content);
}

TEST(Csv, SeedsAreReadAsTheyWereWritten) {
  PointData first;
  first.metrics = {{"latency.l2.count", {std::int64_t{7}, ""}}, {"cost.x", {0.25, "ns"}}};
  PointData second;
  second.metrics = {{"cost.x", {0.5, "ns"}}};
  const CsvFile file = seeds_csv(3, 8, {first, second});
  EXPECT_EQ(file.name, "seeds.csv");
  EXPECT_EQ(file.content, "point,seed,metric,value,unit\n3,8,cost.x,0.25,ns\n3,8,latency.l2.count,7,\n3,9,cost.x,0.5,ns\n");
  const auto points = read_seeds_csv(file.content);
  EXPECT_THAT(points.at(3).at("cost.x"), ElementsAre(testing::Pair(8, 0.25), testing::Pair(9, 0.5)));
  EXPECT_EQ(points.at(3).at("latency.l2.count").size(), 1U);
}

TEST(Csv, LocksAreReadAsTheyWereWritten) {
  PointData data;
  data.locks = {{"dcache_lock", "", 5.3, 16.5, 0.6, 2787, 5, 3094, 0.89, 150, 125, 25, 3, 90, 412.5, {{0, 10, 200.5, 0, 0, 1}}},
                {"dcache_lock", "d_lookup", 4.8, 17.2, 0.7, 1362, 4.8, 2692, 0.76, 127, 105, 22, 0}};
  const CsvFile file = csv_files(4, data)[2];
  ASSERT_EQ(file.name, "locks.csv");
  const auto points = read_locks_csv(file.content);
  ASSERT_EQ(points.at(4).size(), 2U);
  const LockRow& lock = points.at(4)[0];
  EXPECT_EQ(lock.call_site, "");
  EXPECT_EQ(lock.cpu_pct, 0.89);
  EXPECT_EQ(lock.rjct, 3);
  const LockRow& site = points.at(4)[1];
  EXPECT_EQ(site.call_site, "d_lookup");
  EXPECT_EQ(site.wait_max_us, 2692);
  data.locks = points.at(4);
  EXPECT_EQ(csv_files(4, data)[2].content, file.content);
}

TEST(Csv, CpusAreAListAsLinuxWritesIt) {
  EXPECT_EQ(cpu_list(*read_cpu_list("1,2,3,7")), "1-3,7");
  EXPECT_EQ(cpu_list(*read_cpu_list("511,0,63,64,65,200")), "0,63-65,200,511");
  CpuSet few = *read_cpu_list("3"), many = *read_cpu_list("64,300");
  EXPECT_EQ(many.count(), 2U);
  EXPECT_FALSE(few[300]);
  few |= many, many |= *read_cpu_list("3");
  EXPECT_EQ(few, many);
  EXPECT_EQ(cpu_list({}), "");
  EXPECT_FALSE(read_cpu_list("3-1"));
  EXPECT_FALSE(read_cpu_list("512"));
  EXPECT_FALSE(read_cpu_list("1;2"));
}

TEST(Csv, LinesAreReadAsTheyWereWritten) {
  PointData data;
  data.lines = {{"rq",
                 "rq[3]",
                 1,
                 40,
                 "idle",
                 "idle_cpu",
                 "load",
                 0,
                 "remote_c2c",
                 799,
                 65.96,
                 412.5,
                 *read_cpu_list("0-3,8"),
                 {{0, 10, 200.5, 0, 0, 1}}},
                {"odd, one", "odd", 0, 0, "say \"x\"", "f", "atomic", 1, "upgrade", 1, 0, 0}};
  const std::string content = csv_files(4, data)[1].content;
  const auto points = read_lines_csv(content);
  ASSERT_EQ(points.at(4).size(), 2U);
  EXPECT_EQ(points.at(4)[0].object, "rq[3]");
  EXPECT_EQ(points.at(4)[0].remote_pct, 65.96);
  EXPECT_EQ(cpu_list(points.at(4)[0].cpus), "0-3,8");
  ASSERT_TRUE(points.at(4)[0].waits);
  EXPECT_EQ(points.at(4)[0].waits->total(), 211.5);
  EXPECT_NE(content.find(",\"0-3,8\",201,211.5,0,10,200.5,0,0,1\n"), std::string::npos) << "travel, queueing, by resource";
  EXPECT_EQ(points.at(4)[1].structure, "odd, one");
  data.lines = points.at(4);
  EXPECT_EQ(csv_files(4, data)[1].content, content);
}

// Among these are cuts after which the rest of the last row looks like a whole row.
TEST(Csv, ALinesFileThatIsCutOffAnywhereIsRefused) {
  PointData data;
  data.lines = {{"rq", "rq[3]", 1, 40, "idle", "idle_cpu", "load", 0, "remote_c2c", 799, 65.96, 412.5}};
  const std::string content = csv_files(0, data)[1].content;
  const std::size_t header = content.find('\n') + 1;
  for (std::size_t size = 0; size < content.size(); ++size) {
    if (size == header) continue;  // a file without rows is valid
    EXPECT_THROW(read_lines_csv(content.substr(0, size)), InputError) << size;
  }
}

TEST(Csv, ALocksFileWithAColumnTooFewIsRefused) {
  PointData data;
  data.locks.emplace_back();
  std::string content = csv_files(0, data)[2].content;
  content.erase(content.rfind(','), 2);
  EXPECT_THROW(read_locks_csv(content), InputError);
}

TEST(Csv, CyclesAreReadAsTheyWereWritten) {
  PointData data;
  CpiRow row{.cpu = 3, .function = "d_lookup", .instructions = 70};
  row.parts[ordinal(TimePart::issue)] = 30;
  row.parts[ordinal(TimePart::remote_c2c)] = 400;
  row.parts[ordinal(TimePart::ended)] = 5;
  data.cpi = {row};
  const std::string content = csv_files(4, data).back().content;
  EXPECT_EQ(content,
            "point,cpu,function,instructions,cycles,issue,l1,l2,l3,l4,local_c2c,local_memory,remote_memory,remote_c2c,"
            "node_cache,upgrade,atomic,store_buffer,fence,footprint,spin,sleep,ended\n"
            "4,3,d_lookup,70,435,30,0,0,0,0,0,0,0,400,0,0,0,0,0,0,0,0,5\n");
  data.cpi = read_cpi_csv(content).at(4);
  EXPECT_EQ(csv_files(4, data).back().content, content);
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

TEST(Csv, NoFieldIsAFormulaOfASpreadsheetOrActsOnATerminal) {
  EXPECT_EQ(csv_field("=1+1"), "'=1+1");
  EXPECT_EQ(csv_field("+4"), "'+4");
  EXPECT_EQ(csv_field("-x"), "'-x");
  EXPECT_EQ(csv_field("@SUM(1,2)"), "\"'@SUM(1,2)\"");
  EXPECT_EQ(csv_field("\t=1"), "\\u0009=1");
  EXPECT_EQ(csv_field("a\r\n\x1b[2J"), "a\\u000d\\u000a\\u001b[2J");
  EXPECT_EQ(csv_field("'quoted'"), "'quoted'");
}

TEST(Csv, NamesThatLookLikeFormulasReadBackAsTheyWere) {
  const std::vector<std::string> names = {"=1+1", "-", "+4", "@x", "'=1", "''=1", "'x", "x"};
  PointData data;
  for (const std::string& name : names) data.locks.push_back({.lock = name, .call_site = "f", .hold_mean_us = -1});
  const auto read = read_locks_csv(csv_files(0, data)[2].content).at(0);
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(read[i].lock, names[i]);
  EXPECT_EQ(read[0].hold_mean_us, -1) << "negative numbers stay numbers";
}

TEST(Csv, ConcatenationKeepsOneHeader) {
  EXPECT_EQ(concatenate_csv({"a,b\n0,1\n", "a,b\n", "a,b\n2,3\n"}), "a,b\n0,1\n2,3\n");
}

TEST(Csv, LatenciesReadBackByPoint) {
  PointData data;
  data.latency = {{"kernel", "l2", 9, 12.857142857, 5}};
  auto points = read_latency_csv(concatenate_csv({csv_files(0, data)[0].content, csv_files(1, data)[0].content}));
  ASSERT_EQ(points.size(), 2U);
  ASSERT_EQ(points[1].size(), 1U);
  EXPECT_EQ(points[1][0].count, 5);
  EXPECT_DOUBLE_EQ(points[1][0].latency_ns, 12.8571);
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
}  // namespace linebounce::sim
