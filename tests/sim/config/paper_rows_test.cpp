#include "fixture.hpp"
#include "sim/results/paper.hpp"

namespace linebounce::sim {
namespace {

using ::testing::ElementsAre;

class PaperRows : public ConfigFiles {
 protected:
  // An experiment with these lines from line 16 on, below a [[paper]] header with the row's id in line 15.
  static std::string rows(const std::string& lines) {
    return std::string(kExperiment) +
           "[sweep]\n\"workload.lock\" = [\"tas\", \"ticket\"]\n\"machine.cpus\" = [1, 2, 4]\n[[paper]]\nid = \"r\"\n" + lines;
  }
  std::string error(const std::string& lines) const { return experiment_error(rows(lines)); }

  static constexpr const char* kAt = "at = { \"workload.lock\" = \"tas\", \"machine.cpus\" = 2 }\n";
};

TEST_F(PaperRows, AllFieldsAreRead) {
  const Experiment experiment =
      load(rows(std::string("metric = \"cost.x\"\n") + kAt +
                "relative_to = { \"workload.lock\" = \"ticket\" }\ndifference = true\nvalue = -245\ntolerance_abs = 3\n"
                "kind = \"input\"\nsource = \"table 3\"\n"));
  ASSERT_EQ(experiment.paper.size(), 1U);
  const PaperRow& row = experiment.paper[0];
  EXPECT_THAT(row.metrics, ElementsAre("cost.x"));
  EXPECT_EQ(row.at.at("machine.cpus"), ConfigValue{std::int64_t{2}});
  // relative_to overrides what `at` says about the lock, but keeps its number of CPUs.
  EXPECT_EQ(row.relative_to->at("machine.cpus"), ConfigValue{std::int64_t{2}});
  EXPECT_EQ(row.relative_to->at("workload.lock"), ConfigValue{std::string("ticket")});
  EXPECT_TRUE(row.difference);
  EXPECT_EQ(row.value, -245);
  EXPECT_EQ(row.tolerance_abs, 3);
  EXPECT_EQ(row.tolerance, std::nullopt);
  EXPECT_EQ(row.kind, PaperKind::input);
  EXPECT_EQ(row.source, "table 3");
}

TEST_F(PaperRows, ARowMayBeAPartOfAnotherMetricOrOnlyBeShown) {
  const std::string start = std::string("metric = \"m\"\nof = \"n\"\nkind = \"in_sight\"\nscored = false\n") + kAt;
  const Experiment first = load(rows(start + "value = 0.5\ntolerance = 0.1\n"));
  const Experiment again = load(to_toml(first.resolved));
  for (const Experiment& experiment : {first, again}) {
    EXPECT_EQ(experiment.paper[0].of, "n");
    EXPECT_EQ(experiment.paper[0].kind, PaperKind::in_sight);
    EXPECT_FALSE(experiment.paper[0].scored);
  }
  EXPECT_EQ(error(start + "value = 0.5\ntolerance = 0.1\nrelative_to = { \"machine.cpus\" = 4 }\n"),
            "e.toml:17:6: paper.of: a part of another metric has a value and no relative_to");
}

TEST_F(PaperRows, OfAChangeASignMayBeAllThatIsKnown) {
  const std::string start = std::string("metric = \"throughput.operations_per_s\"\n") + kAt;
  const std::string of_ticket = "relative_to = { \"workload.lock\" = \"ticket\" }\n";
  const Experiment first =
      load(rows(start + of_ticket + "sign = \"loss\"\nvisible = 0.03\nmiss = \"overlap\"\nwhy_off = \"no prefetcher\"\n"));
  for (const Experiment& experiment : {first, load(to_toml(first.resolved))}) {
    const PaperRow& row = experiment.paper[0];
    EXPECT_EQ(row.sign, ChangeSign::loss);
    EXPECT_TRUE(row.is_sign_alone());
    EXPECT_EQ(row.visible, 0.03);
    EXPECT_EQ(direction_of(row), Better::higher);
    EXPECT_EQ(row.miss, "overlap");
    EXPECT_EQ(row.why_off, "no prefetcher");
  }
  EXPECT_EQ(error(start + of_ticket + "sign = \"loss\"\nmiss = \"luck\"\n"),
            "e.toml:20:8: paper.miss: \"luck\" is not known; known: load, machine, turns, waiters, overlap, siblings, "
            "clean_owner, other");
  EXPECT_EQ(error(start + of_ticket + "sign = \"loss\"\nmiss = \"load\"\n"),
            "e.toml:20:8: paper.miss: needs why_off, the reason that it classifies");
  // A sign beside a figure either repeats the figure's sign, or says that no change was visible.
  const std::string size = of_ticket + "tolerance = 0.1\nvalue = 0.02\n";
  EXPECT_EQ(load(rows(start + size + "sign = \"none\"\n")).paper[0].sign, ChangeSign::none);
  EXPECT_EQ(load(rows(start + size + "sign = \"gain\"\n")).paper[0].value, 0.02);
  EXPECT_EQ(error(start + size + "sign = \"loss\"\n"),
            "e.toml:21:8: paper.sign: 0.02 of throughput.operations_per_s is none where higher is better");
  // If the metric does not declare which direction is better, the row must.
  const std::string tally = std::string("metric = \"program.misses\"\n") + kAt + of_ticket + "sign = \"gain\"\n";
  EXPECT_EQ(error(tally),
            "e.toml:19:8: paper.sign: whether more of program.misses is better is declared nowhere: say better = \"higher\" or "
            "\"lower\"");
  EXPECT_EQ(direction_of(load(rows(tally + "better = \"lower\"\n")).paper[0]), Better::lower);
  EXPECT_EQ(error(start + "sign = \"gain\"\n"),
            "e.toml:18:8: paper.sign: needs relative_to: a gain or loss is measured against something");
  EXPECT_EQ(error(start + of_ticket + "sign = \"gain\"\ntolerance = 0.1\n"),
            "e.toml:20:13: paper.tolerance: a sign alone has no tolerance; `visible` is what counts as none");
  EXPECT_EQ(error(start + "value = 1\ntolerance = 0.1\nvisible = 0.1\n"),
            "e.toml:20:11: paper.visible: needs relative_to, the base of the change");
  EXPECT_EQ(error(start + of_ticket + "sign = \"better\"\n"),
            "e.toml:19:8: paper.sign: \"better\" is not known; known: gain, loss, none");
}

TEST_F(PaperRows, AnExperimentSaysWhatItsRowsAreAboutAndItsPointsStayWhatTheyAre) {
  const std::string text = rows(std::string("metric = \"m\"\nvalue = 1\ntolerance = 0.1\n") + kAt);
  const Experiment plain = load(text);
  const Experiment of_locks = load("family = \"lock\"\n" + text);
  EXPECT_EQ(of_locks.family, "lock");
  EXPECT_EQ(load(to_toml(of_locks.resolved)).family, "lock");
  EXPECT_EQ(configuration_hash(of_locks.resolved), configuration_hash(plain.resolved));
  EXPECT_EQ(
      experiment_error("family = \"locks\"\n" + text),
      "e.toml:1:10: family: \"locks\" is not known; known: latency, lock, counter, layout, allocator, hash_table, kernel; did "
      "you mean lock?");
}

TEST_F(PaperRows, AShapeSelectsALineOfPoints) {
  const auto shape = load(
      rows("metric = \"m\"\nat = { workload.lock = \"tas\" }\nshape = \"flat\"\nover = \"machine.cpus\"\ntolerance = 0.1\n"));
  EXPECT_EQ(shape.paper[0].shape, Shape::flat);
  EXPECT_EQ(shape.paper[0].over, "machine.cpus");
  EXPECT_EQ(error("metric = \"m\"\nshape = \"increasing\"\nover = \"machine.cpus\"\n"),
            "e.toml:14:1: paper.at: row r: (nothing) selects 6 points, which make no line over machine.cpus; fix every other "
            "swept path");
}

TEST_F(PaperRows, ARowSelectsExactlyOnePoint) {
  EXPECT_EQ(error("metric = \"m\"\nvalue = 1\ntolerance = 0.1\nat = { \"machine.cpus\" = 2 }\n"),
            "e.toml:14:1: paper.at: row r: machine.cpus = 2 selects 2 points; a row needs exactly one");
  EXPECT_EQ(error("metric = \"m\"\nvalue = 1\ntolerance = 0.1\nat = { \"machine.cpus\" = 3, \"workload.lock\" = \"tas\" }\n"),
            "e.toml:14:1: paper.at: row r: machine.cpus = 3, workload.lock = tas selects 0 points; a row needs exactly one");
  EXPECT_EQ(
      error(std::string("metric = \"m\"\nvalue = 1\ntolerance = 0.1\nrelative_to = { \"machine.cpus\" = 3 }\n") + kAt),
      "e.toml:14:1: paper.relative_to: row r: machine.cpus = 3, workload.lock = tas selects 0 points; a row needs exactly one");
  // No error: if the command line changed the sweep, such a row just has no point.
  const auto text = rows(std::string("metric = \"m\"\nvalue = 1\ntolerance = 0.1\n") + kAt);
  const Experiment overridden = load(text, {{}, {{"machine.cpus", "4"}}, {}});
  EXPECT_FALSE(lies_at(expand(overridden).at(0), overridden.paper[0].at));
}

TEST_F(PaperRows, PathsOfAtAreSweptOnes) {
  EXPECT_EQ(error("metric = \"m\"\nat = { \"machine.cpsu\" = 2 }\n"),
            "e.toml:17:25: machine.cpsu: unknown key; did you mean machine.cpus?");
  EXPECT_EQ(error("metric = \"m\"\nat = { \"workload.design\" = \"split\" }\n"),
            "e.toml:17:28: workload.design: is not swept here, so it selects nothing; swept: machine.cpus, workload.lock");
  EXPECT_EQ(error("metric = \"m\"\nat = { \"workload.lock\" = \"mcs\" }\n"),
            "e.toml:17:26: workload.lock: \"mcs\" is not known; known: ticket, tas");
  EXPECT_EQ(error("metric = \"m\"\nshape = \"flat\"\nover = \"workload.design\"\n"),
            "e.toml:18:8: workload.design: is not swept here, so it selects nothing; swept: machine.cpus, workload.lock");
}

TEST_F(PaperRows, FieldsThatDontGoTogetherAreRefused) {
  EXPECT_EQ(error("metric = \"m\"\nvalu = 1\n"), "e.toml:17:1: paper.valu: unknown key; did you mean paper.value?");
  EXPECT_EQ(error("value = 1\n"), "e.toml:15:6: paper.id: a row has either metric = \"NAME\" or order = [\"NAME\", ...]");
  EXPECT_EQ(error("metric = \"m\"\n"), "e.toml:15:6: paper.id: row r needs exactly one of value, sign, shape and order");
  EXPECT_EQ(error(std::string("metric = \"m\"\nvalue = 1\n") + kAt),
            "e.toml:15:6: paper.id: row r needs tolerance (relative) or tolerance_abs");
  EXPECT_EQ(error("metric = \"m\"\nvalue = 1\ntolerance = 1\ntolerance_abs = 1\n"),
            "e.toml:19:17: paper.tolerance_abs: a row has one tolerance: relative (tolerance) or absolute (tolerance_abs)");
  EXPECT_EQ(error("metric = \"m\"\nvalue = 1\ntolerance = -0.1\n"),
            "e.toml:18:13: paper.tolerance: -0.1 is out of range; legal: at least 0");
  EXPECT_EQ(error("metric = \"m\"\nvalue = 1\ndifference = true\n"),
            "e.toml:18:14: paper.difference: a difference needs relative_to");
  EXPECT_EQ(error("metric = \"m\"\nshape = \"round\"\n"),
            "e.toml:17:9: paper.shape: \"round\" is not known; known: increasing, decreasing, flat");
  EXPECT_EQ(error("metric = \"m\"\nshape = \"flat\"\n"), "e.toml:17:9: paper.shape: shape and over = \"PATH\" go together");
  EXPECT_EQ(error("metric = \"m\"\nkind = \"guess\"\n"),
            "e.toml:17:8: paper.kind: \"guess\" is not known; known: calibrated, in_sight, predicted, input");
  EXPECT_EQ(error("metric = \"m\"\nvalue = 1\ntolerance = 1\nkind = \"in_sight\"\nbroken_by = \"free\"\n"),
            "e.toml:20:13: paper.broken_by: needs kind = \"predicted\": it names a change that would break the prediction");
  EXPECT_EQ(error("metric = \"m\"\nvalue = 1\ntolerance = 1\nreason_tested = \"e\"\n"),
            "e.toml:19:17: paper.reason_tested: needs why_off, the reason that it tests");
  EXPECT_EQ(error("order = [\"m\"]\n"), "e.toml:16:9: paper.order: expected a list of two or more metrics, as texts");
  EXPECT_EQ(error("order = [\"m\", 3]\n"), "e.toml:16:9: paper.order: expected a list of two or more metrics, as texts");
}

TEST_F(PaperRows, IdsAreUnique) {
  const std::string row = std::string("metric = \"m\"\nvalue = 1\ntolerance = 0.1\n") + kAt;
  EXPECT_EQ(error(row + "[[paper]]\nid = \"r\"\n" + row),
            "e.toml:20:1: paper.id: \"r\" is used by another row: ids are unique");
}

}  // namespace
}  // namespace linebounce::sim
