#include "sim/config/measured_tables.hpp"

#include "fixture.hpp"

namespace linebounce::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kHeader = "samples,remote_pct,instruction,function,offset_in_line,field\n";

std::vector<MeasuredRow> rows(const std::string& lines) {
  return read_measured_rows(kHeader + lines, "t.csv", "rq");
}

std::string rows_error(const std::string& text) {
  try {
    read_measured_rows(text, "t.csv", "rq");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(MeasuredRows, InstructionsOfOneFunctionFieldAndAccessAreOneRow) {
  const auto read = rows(
      "30,100,ld4.acq,resched_task,80,lock\n"
      "10,20,ld8,resched_task,80,lock\n"
      "5,0,cmpxchg4.acq,resched_task,80,lock\n");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].samples, 40);
  EXPECT_DOUBLE_EQ(read[0].remote_pct, 80);
  EXPECT_EQ(read[0].access, "load");
  EXPECT_EQ(read[1].access, "atomic");
}

TEST(MeasuredRows, HaveNamesThatMetricsCanHave) {
  const auto read = rows(
      "1,0,ld8,__blockdev_direct_IO,8,cpu_load[0]\n"
      "1,0,ld8,f,0,wait.lock\n"
      "1,0,fetchadd4.rel,f,16,users\n"
      "1,0,ld4,f,16,users\n");
  ASSERT_EQ(read.size(), 4U);
  EXPECT_EQ(read[0].key, "f.wait_lock") << "by offset";
  EXPECT_EQ(read[1].key, "__blockdev_direct_io.cpu_load_0");
  EXPECT_EQ(read[2].key, "f.users.atomic") << "the access, where there are both";
  EXPECT_EQ(read[3].key, "f.users.load");
}

TEST(MeasuredRows, ANeighboursFieldIsNotTheStructures) {
  const auto read = read_measured_rows(
      "structure,samples,remote_pct,instruction,function,offset_in_line,field\n,1,0,ld8,f,8,map\nbitmap,2,0,ld8,f,64,map\n",
      "t.csv", "tag");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].key, "f.map");
  EXPECT_EQ(read[0].structure, "tag");
  EXPECT_EQ(read[1].key, "f.bitmap_map");
  EXPECT_EQ(read[1].structure, "bitmap");
}

TEST(MeasuredRows, BadTablesAreRefusedWithTheirLine) {
  EXPECT_EQ(rows_error(""), "t.csv:0: the table has no rows");
  EXPECT_EQ(rows_error(kHeader), "t.csv:1: the table has no rows");
  EXPECT_THAT(rows_error("samples,remote_pct\n1,2\n"),
              HasSubstr("t.csv:1: column instruction is missing; a table needs samples"));
  EXPECT_EQ(rows_error(std::string(kHeader) + "1,0,ld8,f,0,a\n1,0,ld8,f\n"), "t.csv:3: 4 fields; the first line has 6");
  EXPECT_EQ(rows_error(std::string(kHeader) + "-1,0,ld8,f,0,a\n"),
            "t.csv:2: samples \"-1\" is not a number; legal: 0 to 9007199254740992");
  EXPECT_EQ(rows_error(std::string(kHeader) + "1,101,ld8,f,0,a\n"),
            "t.csv:2: remote_pct \"101\" is not a number; legal: 0 to 100");
  EXPECT_EQ(rows_error(std::string(kHeader) + "1,nan,ld8,f,0,a\n"),
            "t.csv:2: remote_pct \"nan\" is not a number; legal: 0 to 100");
  EXPECT_EQ(rows_error(std::string(kHeader) + "1,0,st8,f,0,a\n"),
            "t.csv:2: instruction \"st8\" is not known; legal: ld..., cmpxchg..., fetchadd..., xchg...");
  EXPECT_EQ(rows_error(std::string(kHeader) + "1,0,ld8,f,0,\n"), "t.csv:2: field is empty");
  EXPECT_EQ(rows_error(std::string(kHeader) + "1,0,ld8,f,0,a[0]\n1,0,ld8,f,0,a.0\n"),
            "t.csv:3: two rows would be called f.a_0");
}

class MeasuredTables : public ConfigFiles {
 protected:
  void SetUp() override {
    ConfigFiles::SetUp();
    write("t.csv", std::string(kHeader) + "120,10,cmpxchg4.acq,f,0,lock\n60,90,ld4,f,0,lock\n12,0,ld4,g,8,nr\n");
  }
  // An experiment without a sweep and with a [[table]], whose first line is line 14.
  static std::string table(const std::string& more = "", const std::string& file = "./t.csv") {
    return std::string(kExperiment) + "[[table]]\nid = \"fig1\"\nfile = \"" + file +
           "\"\nstructure = \"rq\"\nfield = \"lock\"\nmin_samples = 50\ntolerance_abs = 10\nsource = \"figure 1\"\n" + more;
  }
};

TEST_F(MeasuredTables, EveryRowWithEnoughSamplesIsAPaperRow) {
  const Experiment experiment = load(table("calibrated = [\"f.lock.load\"]\n"));
  ASSERT_EQ(experiment.measured.size(), 1U);
  EXPECT_EQ(experiment.measured[0].rows.size(), 3U);
  ASSERT_EQ(experiment.paper.size(), 2U);
  const PaperRow& row = experiment.paper[0];
  EXPECT_EQ(row.id, "fig1.f.lock.atomic");
  EXPECT_THAT(row.metrics, ElementsAre("table.fig1.f.lock.atomic.remote_pct"));
  EXPECT_EQ(row.value, 10);
  EXPECT_EQ(row.tolerance_abs, 10);
  EXPECT_EQ(row.kind, PaperKind::predicted);
  EXPECT_EQ(row.source, "figure 1");
  EXPECT_EQ(row.table, "fig1");
  EXPECT_EQ(experiment.paper[1].id, "fig1.f.lock.load");
  EXPECT_EQ(experiment.paper[1].kind, PaperKind::calibrated);
}

TEST_F(MeasuredTables, ATablesKindIsThatOfAllRowsThatNoListNames) {
  const Experiment table_in_sight = load(table("kind = \"in_sight\"\ncalibrated = [\"f.lock.load\"]\n"));
  EXPECT_EQ(table_in_sight.paper[0].kind, PaperKind::in_sight);
  EXPECT_EQ(table_in_sight.paper[1].kind, PaperKind::calibrated);
  const Experiment row_in_sight = load(table("in_sight = [\"f.lock.load\"]\n"));
  EXPECT_EQ(row_in_sight.paper[0].kind, PaperKind::predicted);
  EXPECT_EQ(row_in_sight.paper[1].kind, PaperKind::in_sight);
  EXPECT_THAT(experiment_error(table("in_sight = [\"f.lock.load\"]\ncalibrated = [\"f.lock.load\"]\n")),
              HasSubstr("the row \"f.lock.load\" is named twice"));
  EXPECT_THAT(experiment_error(table("kind = \"input\"\n")), HasSubstr("known: calibrated, in_sight, predicted"));
}

TEST_F(MeasuredTables, TheResolvedConfigurationReadsTheSame) {
  const Experiment first = load(table("kind = \"in_sight\"\ncalibrated = [\"f.lock.load\"]\n"));
  const Experiment again = load(to_toml(first.resolved));
  EXPECT_EQ(to_toml(again.resolved), to_toml(first.resolved));
  EXPECT_EQ(again.paper.size(), 2U);
  EXPECT_EQ(again.paper[0].kind, PaperKind::in_sight);
  EXPECT_EQ(again.paper[1].kind, PaperKind::calibrated);
}

TEST_F(MeasuredTables, TheHashKnowsTheRowsAndWhatIsCountedButNotTheTolerance) {
  const std::string hash = configuration_hash(expand(load(table()))[0].resolved);
  EXPECT_EQ(configuration_hash(expand(load(replace_line(table(), "tolerance_abs", "tolerance_abs = 3")))[0].resolved), hash);
  EXPECT_EQ(configuration_hash(expand(load(table("kind = \"in_sight\"\n")))[0].resolved), hash);
  EXPECT_NE(configuration_hash(expand(load(replace_line(table(), "min_samples", "min_samples = 70")))[0].resolved), hash);
  write("t.csv", std::string(kHeader) + "121,10,cmpxchg4.acq,f,0,lock\n60,90,ld4,f,0,lock\n12,0,ld4,g,8,nr\n");
  EXPECT_NE(configuration_hash(expand(load(table()))[0].resolved), hash);
}

TEST_F(MeasuredTables, BadTablesAreRefused) {
  EXPECT_THAT(experiment_error(table("calibrated = [\"f.lock\"]\n")),
              HasSubstr("table.calibrated: the scored row \"f.lock\" is not known; known: f.lock.atomic, f.lock.load"));
  EXPECT_THAT(experiment_error(table("calibrated = [\"g.nr\"]\n")), HasSubstr("\"g.nr\" is not known")) << "it is not scored";
  EXPECT_THAT(experiment_error(table("lines = 1\n")), HasSubstr("table.lines"));
  EXPECT_THAT(experiment_error(replace_line(table(), "min_samples", "")), HasSubstr("table.min_samples: this key is missing"));
  EXPECT_THAT(experiment_error(replace_line(table(), "id = ", "id = \"Fig 1\"")),
              HasSubstr("cannot be part of a metric's name"));
  EXPECT_THAT(experiment_error(table("", "./none.csv")), HasSubstr("none.csv: there is no such file"));
  EXPECT_THAT(experiment_error(table("at = { \"machine.cpus\" = 2 }\n")), HasSubstr("is not swept here"));
  EXPECT_THAT(experiment_error(table("[[table]]\nid = \"fig1\"\nfile = \"./t.csv\"\nstructure = \"rq\"\nfield = \"lock\"\n"
                                     "min_samples = 50\ntolerance_abs = 10\n")),
              HasSubstr("\"fig1\" is used by another table"));
  EXPECT_THAT(experiment_error(table("[sweep]\n\"machine.cpus\" = [1, 2]\n")),
              HasSubstr("table.at: table fig1: selects 2 points; a table needs exactly one"));
}

// The rows still form a table for readers, even in the configuration of one point of a sweep.
TEST_F(MeasuredTables, WithoutAToleranceItsRowsAreNotPaperRows) {
  const Experiment experiment = load(replace_line(table(), "tolerance_abs", ""));
  EXPECT_EQ(experiment.measured.size(), 1U);
  EXPECT_TRUE(experiment.paper.empty());
  EXPECT_THAT(experiment_error(replace_line(table(), "tolerance_abs", "calibrated = [\"f.lock.load\"]")),
              HasSubstr("table.calibrated: rows have a kind where they are scored"));
  EXPECT_THAT(experiment_error(replace_line(table(), "tolerance_abs", "kind = \"in_sight\"")),
              HasSubstr("table.kind: rows have a kind where they are scored"));
}

TEST_F(MeasuredTables, APointOfASweepReadsBackAsTheSamePoint) {
  const Experiment swept = load(table("at = { \"machine.cpus\" = 2 }\n[sweep]\n\"machine.cpus\" = [1, 2]\n"));
  const auto points = expand(swept);
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(swept.paper[0].at.at("machine.cpus"), ConfigValue{std::int64_t{2}});
  const auto alone = expand(load(to_toml(points[1].resolved)));
  EXPECT_EQ(configuration_hash(alone[0].resolved), configuration_hash(points[1].resolved));
  EXPECT_EQ(alone[0].input.tables.size(), 1U);
}

// Every row of the paper's figures with at least 50 samples, by function, field and instruction: 50 rows.
TEST_F(MeasuredTables, TheFiguresOfOls2007HaveFiftyRowsThatAreScored) {
  std::size_t scored = 0;
  std::size_t files = 0;
  const auto folder = project_root() / "configs/figures/ols2007";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".csv") continue;
    ++files;
    std::ifstream in(entry.path());
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    for (const MeasuredRow& row : read_measured_rows(text, entry.path().string(), "structure")) scored += row.samples >= 50;
  }
  EXPECT_EQ(files, 13U);
  EXPECT_EQ(scored, 50U);
}

}  // namespace
}  // namespace linebounce::sim
