#include "fixture.hpp"

namespace linebounce::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// An experiment that uses everything that a resolved configuration may contain.
constexpr const char* kEverything = R"(
[set]
"machine.memory.latency_ns" = 120.5
[sweep]
"workload.lock" = ["ticket", "tas"]
"machine.cpus" = "1..N"
[[sweep.together]]
"workload.think_ns" = [1.25, 2]
"workload.increments" = [10, 20]
[[paper]]
id = "a.b"
metric = "cost.x"
at = { "workload.lock" = "tas", "machine.cpus" = 2, workload.think_ns = 2.0 }
relative_to = { "machine.cpus" = 1 }
difference = true
value = -245
tolerance = 0.25
kind = "calibrated"
source = "a \"quoted\" table\n"
[[paper]]
id = "a.flat"
metric = "cost.x"
at = { "workload.lock" = "tas", "workload.think_ns" = 2 }
shape = "increasing"
over = "machine.cpus"
[[paper]]
id = "a.order"
order = ["cost.x", "cost.y"]
at = { "workload.lock" = "tas", "machine.cpus" = 1, "workload.think_ns" = 2 }
)";

class Resolved : public ConfigFiles {
 protected:
  static std::string everything() { return std::string(kExperiment) + kEverything; }
};

TEST_F(Resolved, HoldsEveryParameterOfTheMachineWithValueAndSource) {
  const toml::table resolved = load(everything()).resolved;
  for (const auto& parameter : load_machine(path("m.toml")).parameters) {
    EXPECT_TRUE(resolved.at_path(parameter.path)) << parameter.path;
  }
  EXPECT_EQ(resolved["machine"]["name"].value_or(std::string{}), "m");
  EXPECT_EQ(resolved["machine"]["memory"]["latency_ns"].value_or(0.0), 120.5);
  EXPECT_EQ(resolved["machine"]["sources"]["memory"].value_or(std::string{}), "assumed: a test");
  EXPECT_EQ(resolved["workload"]["increments"].value_or(0), 100);
  EXPECT_EQ(resolved["run"]["seeds"].value_or(0), 3);
}

TEST_F(Resolved, AnOverriddenParameterNoLongerClaimsItsOldSource) {
  EXPECT_EQ((*load(everything()).resolved["machine"]["sources"].as_table())["memory.latency_ns"].value_or(std::string{}),
            "assumed: set by the experiment");
  const auto set = load(kExperiment, {{}, {{"machine.memory.latency_ns", "1"}}, {}});
  EXPECT_EQ((*set.resolved["machine"]["sources"].as_table())["memory.latency_ns"].value_or(std::string{}),
            "assumed: set on the command line");
}

TEST_F(Resolved, ReadAgainItGivesTheSameTextPointsAndRows) {
  const Experiment first = load(everything());
  const std::string text = to_toml(first.resolved);
  const Experiment second = load_experiment(write("config.toml", text), {}, test_catalogue());
  EXPECT_EQ(to_toml(second.resolved), text);
  EXPECT_EQ(configuration_hash(second.resolved), configuration_hash(first.resolved));
  const auto a = expand(first);
  const auto b = expand(second);
  ASSERT_EQ(a.size(), 12U);
  ASSERT_EQ(b.size(), a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(b[i].at, a[i].at);
    EXPECT_EQ(to_toml(b[i].resolved), to_toml(a[i].resolved));
  }
  ASSERT_EQ(second.paper.size(), first.paper.size());
  for (std::size_t i = 0; i < first.paper.size(); ++i) {
    EXPECT_EQ(second.paper[i].id, first.paper[i].id);
    EXPECT_EQ(second.paper[i].metrics, first.paper[i].metrics);
    EXPECT_EQ(second.paper[i].at, first.paper[i].at);
    EXPECT_EQ(second.paper[i].relative_to, first.paper[i].relative_to);
    EXPECT_EQ(second.paper[i].value, first.paper[i].value);
    EXPECT_EQ(second.paper[i].kind, first.paper[i].kind);
    EXPECT_EQ(second.paper[i].source, first.paper[i].source);
  }
}

TEST_F(Resolved, APointReadAloneIsThatPoint) {
  const auto points = expand(load(everything()));
  const Point& point = points.at(3);
  const auto alone = expand(load_experiment(write("config.toml", to_toml(point.resolved)), {}, test_catalogue()));
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_EQ(to_toml(alone[0].resolved), to_toml(point.resolved));
  EXPECT_EQ(alone[0].input.machine.cpus, point.input.machine.cpus);
  EXPECT_EQ(alone[0].input.machine.cpus_present, 4);
}

TEST_F(Resolved, ThatTheCommandLineChangedTheMachineIsRemembered) {
  const Experiment set = load(kExperiment, {{}, {{"machine.cpus", "2"}}, {}});
  EXPECT_TRUE(load_experiment(write("config.toml", to_toml(set.resolved)), {}, test_catalogue()).overridden);
}

TEST_F(Resolved, TheHashFollowsWhatCanChangeAResultAndNothingElse) {
  const auto hash = [&](const std::string& text, const Overrides& overrides = {}) {
    return configuration_hash(load(text, overrides).resolved);
  };
  const std::string before = hash(everything());
  EXPECT_EQ(before.size(), 16U);
  EXPECT_EQ(hash(replace_line(everything(), "title", "title = \"other\"")), before);
  EXPECT_EQ(hash(replace_line(everything(), "tolerance", "tolerance = 0.3")), before);
  EXPECT_EQ(hash(everything() + "[engine]\nrun_ahead = false\n"), before);
  EXPECT_EQ(hash(replace_line(everything(), "warmup_us", "warmup_us = 2.50")), before);
  EXPECT_NE(hash(replace_line(everything(), "warmup_us", "warmup_us = 2.6")), before);
  EXPECT_NE(hash(replace_line(everything(), "seed =", "seed = 8")), before);
  EXPECT_NE(hash(everything(), {{}, {{"machine.bus.outstanding", "7"}}, {}}), before);
  EXPECT_NE(hash(replace_line(everything(), "workload.lock\" = [\"ticket", "\"workload.lock\" = [\"tas\", \"ticket\"]")),
            before);
  write("m.toml", replace_line(kMachine, "\"memory.latency_ns\"", ""));
  EXPECT_EQ(hash(everything()), before);
}

TEST_F(Resolved, TheHashFollowsTheProtocolsText) {
  std::filesystem::copy_file(std::filesystem::path(LINEBOUNCE_SOURCE_DIR) / "models/protocols/mesi_snoop.md",
                             folder_ / "mine.md");
  const auto resolved = load(std::string(kExperiment) + "[set]\n\"machine.bus.protocol\" = \"mine.md\"\n").resolved;
  const auto swept = load(std::string(kExperiment) + "[sweep]\n\"machine.bus.protocol\" = [\"mine.md\"]\n").resolved;
  const auto before = configuration_hash(resolved);
  const auto before_swept = configuration_hash(swept);
  std::ofstream(path("mine.md"), std::ios::app) << "\nmore prose\n";
  EXPECT_NE(configuration_hash(resolved), before);
  EXPECT_NE(configuration_hash(swept), before_swept);
}

TEST_F(Resolved, TextIsReadable) {
  const std::string text = to_toml(load(kExperiment).resolved);
  EXPECT_THAT(text, HasSubstr("name = \"e\"\nseed = 7\ntitle = \"an experiment\"\n\n[machine]\ncache_levels = [\"L1D\", "
                              "\"L2\"]\ncontention = \"front_side_bus\"\ncpu_list = \"\"\ncpu_order = \"spread\"\ncpus = 4\n"));
  EXPECT_THAT(text, HasSubstr("[machine.cpu]\n"));
  EXPECT_THAT(text, HasSubstr("clock_mhz = 666.667\n"));
  EXPECT_THAT(text, Not(HasSubstr("engine")));
}

}  // namespace
}  // namespace linebounce::sim
