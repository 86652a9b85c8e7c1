// Experiments that state only their differences from another one.
#include "fixture.hpp"

namespace linebounce::sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Extended : public ConfigFiles {
 protected:
  void SetUp() override {
    ConfigFiles::SetUp();
    write("base.toml", std::string(kExperiment) +
                           "[set]\n\"machine.memory.latency_ns\" = 110\n\"workload.increments\" = 5\n[sweep]\n"
                           "\"machine.cpus\" = [1, 2]\n[[paper]]\nid = \"a\"\nmetric = \"x\"\nvalue = 1\ntolerance = 1\n"
                           "at = { \"machine.cpus\" = 1 }\n");
  }
  static std::string text(const std::string& more) {
    return "extends = \"base.toml\"\nname = \"own\"\ntitle = \"mine\"\n" + more;
  }
};

TEST_F(Extended, KeysAreTakenFromTheOtherWhereTheFileHasNone) {
  const Experiment experiment = load(text("[workload]\nlock = \"ticket\"\n[run]\nseeds = 1\n"));
  EXPECT_EQ(experiment.name, "own");
  EXPECT_EQ(experiment.title, "mine");
  EXPECT_EQ(experiment.seed, 7U);
  EXPECT_TRUE(experiment.sweep.empty()) << "a sweep is an experiment's own";
  EXPECT_TRUE(experiment.paper.empty());
  EXPECT_FALSE(experiment.overridden);
  const Point point = expand(experiment).at(0);
  EXPECT_EQ(point.input.machine.name, "m");
  EXPECT_EQ(point.input.parameters.text("lock"), "ticket");
  EXPECT_DOUBLE_EQ(point.input.run.warmup_us, 2.5);
  EXPECT_EQ(experiment.seeds, 1);
  EXPECT_DOUBLE_EQ(point.input.machine.memory.latency_ns, 110);
  EXPECT_THAT(to_toml(experiment.resolved), ::testing::Not(HasSubstr("extends")));
}

TEST_F(Extended, TheFilesOwnWorkloadWinsOverTheOthersSet) {
  EXPECT_EQ(expand(load(text(""))).at(0).input.parameters.integer("increments"), 5);
  EXPECT_EQ(expand(load(text("[workload]\nincrements = 9\n"))).at(0).input.parameters.integer("increments"), 9);
  EXPECT_EQ(expand(load(text("[set.workload]\nincrements = 9\n"))).at(0).input.parameters.integer("increments"), 9);
}

TEST_F(Extended, AnErrorNamesTheFileInWhichItsKeyStands) {
  write("base.toml", replace_line(kExperiment, "lock", "lock = \"none\""));
  EXPECT_THAT(experiment_error(text("[run]\nseeds = 1\n")), StartsWith("base.toml:7:8: workload.lock"));
  EXPECT_THAT(experiment_error(text("[workload]\nlock = \"ticket\"\nx = 1\n")), StartsWith("e.toml:6:5: workload.x"));
}

TEST_F(Extended, PathsAreTakenFromTheFileInWhichTheyStand) {
  std::filesystem::create_directory(folder_ / "deep");
  std::filesystem::rename(folder_ / "m.toml", folder_ / "deep" / "m.toml");
  std::filesystem::rename(folder_ / "base.toml", folder_ / "deep" / "base.toml");
  EXPECT_EQ(load("extends = \"deep/base.toml\"\nname = \"own\"\ntitle = \"mine\"\n").machine_name, "m");
}

TEST_F(Extended, NameAndTitleAreAnExperimentsOwn) {
  EXPECT_THAT(experiment_error("extends = \"base.toml\"\ntitle = \"t\"\n"), HasSubstr("e.toml:1:1: name: this key is missing"));
  EXPECT_THAT(experiment_error("extends = \"base.toml\"\nname = \"n\"\n"), HasSubstr("title: this key is missing"));
}

TEST_F(Extended, ACircleIsRefused) {
  write("base.toml", "extends = \"e.toml\"\nname = \"b\"\ntitle = \"t\"\n");
  EXPECT_THAT(experiment_error(text("")),
              AllOf(StartsWith("base.toml:1:11: extends"), HasSubstr("extends itself"), HasSubstr("e.toml")));
}

TEST_F(Extended, TheExtendedFileMustExist) {
  EXPECT_THAT(experiment_error("extends = \"no.toml\"\nname = \"n\"\ntitle = \"t\"\n"),
              AllOf(StartsWith("e.toml:1:11: extends"), HasSubstr("no.toml")));
  EXPECT_THAT(experiment_error("extends = \"operation_cost\"\nname = \"n\"\ntitle = \"t\"\n"),
              AllOf(StartsWith("e.toml:1:11: extends"), HasSubstr("did you mean operation_costs")));
}

TEST_F(Extended, TheOthersChangesOfLayoutsApplyFirst) {
  const std::string change = "[[layout.change]]\nstructure = \"dentry\"\nbase_offset_bytes = ";
  write("base.toml", "name = \"b\"\nmachine = \"m.toml\"\n[workload]\nname = \"dbench\"\n" + change + "16\n");
  const auto layout = [&](const std::string& more) {
    return expand(load_experiment(write("e.toml", text(more)), {})).at(0).input.layouts.find("dentry");
  };
  EXPECT_EQ(layout("").base_offset, 16);
  EXPECT_EQ(layout(change + "32\n").base_offset, 32);
}

// With a sweep over machines the text is read more than once.
TEST_F(Extended, ATextThatIsInNoFileIsReadAsIfItWere) {
  write("base.toml", "name = \"b\"\nmachine = \"m.toml\"\n[workload]\nname = \"critical_section\"\n");
  write("two.toml", replace_line(kMachine, "latency_ns = 100", "latency_ns = 250"));
  const auto read = [&](const std::string& more) { return read_unexpanded(text(more), path("no_file.toml"), {}); };
  const std::vector<Point> points = expand(read("[sweep]\nmachine = [\"m.toml\", \"two.toml\"]\n"));
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].input.machine.memory.latency_ns, 250);
  EXPECT_THAT(error_of([&] { read("[run]\nsedes = 2\n"); }), StartsWith("no_file.toml:5:9: run.sedes"));
}

TEST_F(Extended, ANameMayHaveAFolder) {
  EXPECT_EQ(load(replace_line(kExperiment, "name = \"e\"", "name = \"what_if/e\"")).name, "what_if/e");
  for (const std::string bad : {"/e", "e/", "a//b", "../e", "a/../b", "a/.b"})
    EXPECT_THAT(experiment_error(replace_line(kExperiment, "name = \"e\"", "name = \"" + bad + "\"")),
                StartsWith("e.toml:1:8: name"))
        << bad;
}

}  // namespace
}  // namespace linebounce::sim
