#include "fixture.hpp"

namespace linebounce::sim {
namespace {

using ::testing::HasSubstr;
using At = std::vector<std::pair<std::string, ConfigValue>>;

ConfigValue integer(std::int64_t value) {
  return value;
}
ConfigValue text(const char* value) {
  return std::string(value);
}

class Sweep : public ConfigFiles {
 protected:
  // Lines of [sweep] start at line 12.
  static std::string sweep(const std::string& lines) { return std::string(kExperiment) + "[sweep]\n" + lines; }
  std::vector<At> points(const std::string& lines, const Overrides& overrides = {}) const {
    std::vector<At> out;
    for (const auto& point : expand(load(sweep(lines), overrides))) {
      EXPECT_EQ(point.number, static_cast<int>(out.size()));
      out.push_back(point.at);
    }
    return out;
  }
  std::string error(const std::string& lines) const { return experiment_error(sweep(lines)); }
};

TEST_F(Sweep, EveryCombinationIsAPointAndTheLastAxisTurnsFastest) {
  EXPECT_EQ(points("\"workload.lock\" = [\"tas\", \"ticket\"]\n\"machine.cpus\" = [4, 2]\n"),
            (std::vector<At>{{{"workload.lock", text("tas")}, {"machine.cpus", integer(4)}},
                             {{"workload.lock", text("tas")}, {"machine.cpus", integer(2)}},
                             {{"workload.lock", text("ticket")}, {"machine.cpus", integer(4)}},
                             {{"workload.lock", text("ticket")}, {"machine.cpus", integer(2)}}}));
}

TEST_F(Sweep, ValuesReachThePointsInput) {
  const auto expanded = expand(load(sweep("\"workload.lock\" = [\"tas\", \"ticket\"]\n")));
  EXPECT_EQ(expanded.at(1).input.parameters.text("lock"), "ticket");
  EXPECT_EQ(expanded.at(1).resolved["workload"]["lock"].value_or(std::string{}), "ticket");
  EXPECT_FALSE(expanded.at(1).resolved.contains("sweep"));
}

TEST_F(Sweep, OneAxisChangesTheLineOfEveryCacheAndBus) {
  const auto expanded = expand(load(sweep("\"machine.line_bytes\" = [32, 128]\n")));
  ASSERT_EQ(expanded.size(), 2U);
  for (const auto& [point, bytes] : {std::pair(expanded[0], 32), std::pair(expanded[1], 128)}) {
    EXPECT_EQ(point.input.machine.caches[0].line_bytes, bytes);
    EXPECT_EQ(point.input.machine.bus.line_bytes, bytes);
    const auto* resolved = point.resolved["machine"].as_table();
    EXPECT_EQ(resolved->at_path("cache.L2.line_bytes").value_or(0), bytes);
    EXPECT_EQ((*(*resolved)["sources"].as_table())["cache.L2.line_bytes"].value_or(std::string{}),
              "assumed: swept by the experiment");
  }
}

TEST_F(Sweep, ALineOfOneCacheThatContradictsTheLineOfAllIsRefused) {
  const std::string both = "\"machine.line_bytes\" = [64, 128]\n[set]\n\"machine.cache.L2.line_bytes\" = 64\n";
  EXPECT_EQ(error("\"machine.line_bytes\" = [64]\n[set]\n\"machine.cache.L1D.line_bytes\" = 32\n"),
            "e.toml:14:34: machine.cache.L1D.line_bytes: 32 differs from machine.line_bytes = 64 (e.toml:12:24), the line size "
            "of every cache and bus");
  EXPECT_THAT(error(both), HasSubstr("64 differs from machine.line_bytes = 128"));
}

TEST_F(Sweep, APointIsTheSameWhicheverIsMadeBeforeIt) {
  write("e.toml", sweep("\"machine.cpus\" = [4, 2]\n\"workload.lock\" = [\"tas\", \"ticket\"]\n"));
  const Experiment experiment = load_unexpanded(path("e.toml"), {}, test_catalogue());
  ASSERT_EQ(point_count(experiment), 4U);
  const auto all = expand(experiment);
  const Point alone = point_maker(experiment)(2);
  EXPECT_EQ(alone.number, 2);
  EXPECT_EQ(alone.at, all[2].at);
  EXPECT_EQ(configuration_hash(alone.resolved), configuration_hash(all[2].resolved));
  EXPECT_EQ(alone.input.machine.cpus, 2);
}

TEST_F(Sweep, OneToNIsThePowersOfTwoAndAllOfTheMachines) {
  EXPECT_EQ(points("\"machine.cpus\" = \"1..N\"\n"),
            (std::vector<At>{{{"machine.cpus", integer(1)}}, {{"machine.cpus", integer(2)}}, {{"machine.cpus", integer(4)}}}));
  write("m.toml", replace_line(kMachine, "cpus = 4", "cpus = 6"));
  EXPECT_EQ(points("machine.cpus = \"1..N\"\n").size(), 4U);
  EXPECT_EQ(points("machine.cpus = \"1..N\"\n").back(), (At{{"machine.cpus", integer(6)}}));
  EXPECT_EQ(error("\"workload.increments\" = \"1..N\"\n"),
            "e.toml:12:25: workload.increments: expected a list of values, found a string (\"1..N\")");
  EXPECT_EQ(error("\"machine.cpus\" = \"1..8\"\n"),
            "e.toml:12:18: machine.cpus: expected a list of values or \"1..N\", found a string (\"1..8\")");
}

TEST_F(Sweep, ListsThatGoTogetherAreZipped) {
  const auto zipped = points(
      "\"machine.cpus\" = [1, 2]\n[[sweep.together]]\n\"workload.lock\" = [\"tas\", \"ticket\"]\n\"workload.increments\" = [5, "
      "6]\n");
  ASSERT_EQ(zipped.size(), 4U);
  EXPECT_EQ(zipped[1],
            (At{{"machine.cpus", integer(1)}, {"workload.increments", integer(6)}, {"workload.lock", text("ticket")}}));
  EXPECT_EQ(error("[[sweep.together]]\n\"workload.lock\" = [\"tas\", \"ticket\"]\n\"workload.increments\" = [5]\n"),
            "e.toml:13:19: workload.lock: 2 values, but 1 of workload.increments: lists that go together have one length");
}

TEST_F(Sweep, AParameterThatCannotBeSweptIsRefused) {
  EXPECT_EQ(error("\"workload.lock\" = []\n"), "e.toml:12:19: workload.lock: expected a list of values, found an empty one");
  EXPECT_EQ(error("\"workload.lock\" = \"tas\"\n"),
            "e.toml:12:19: workload.lock: expected a list of values, found a string (\"tas\")");
  EXPECT_EQ(error("\"workload.increments\" = [1, \"x\"]\n"),
            "e.toml:12:29: workload.increments: expected an integer, found a string (\"x\")");
  EXPECT_EQ(error("\"workload.increments\" = [1, 2, 1]\n"),
            "e.toml:12:25: workload.increments: the list has the value 1 twice; remove one");
  EXPECT_EQ(error("\"engine.run_ahead\" = [true, false]\n"),
            "e.toml:12:22: engine.run_ahead: changes no result: there is nothing to sweep");
  EXPECT_EQ(error("\"run.seeds\" = [1, 2]\n"),
            "e.toml:12:15: run.seeds: is one number for the whole experiment and cannot be swept");
  EXPECT_EQ(error("\"machine.name\" = [\"x\"]\n"),
            "e.toml:12:18: machine.name: stands in the machine's own file and cannot be set elsewhere");
  EXPECT_EQ(error("\"machine.cpus\" = [1, 5]\n"), "e.toml:12:18: machine.cpus: 5 is more than the machine's 4; legal: 1 to 4");
  EXPECT_EQ(error("\"machine.cpus\" = [1]\n[[sweep.together]]\n\"machine.cpus\" = [2]\n"),
            "e.toml:14:18: machine.cpus: is swept twice");
  EXPECT_EQ(error("together = 3\n"),
            "e.toml:12:12: sweep.together: expected [[sweep.together]] tables of path = [values], found an integer (3)");
  EXPECT_THAT(error("[[sweep.together]]\n"), HasSubstr("sweep.together: expected path = [values], found an empty table"));
}

TEST_F(Sweep, SettingASweptPathLeavesItOneValue) {
  EXPECT_EQ(points("\"machine.cpus\" = [1, 2, 4]\n", {{}, {{"machine.cpus", "3"}}, {}}),
            (std::vector<At>{{{"machine.cpus", integer(3)}}}));
  const auto zipped =
      points("[[sweep.together]]\n\"workload.lock\" = [\"tas\", \"ticket\"]\n\"workload.increments\" = [5, 6]\n",
             {{}, {{"workload.increments", "7"}}, {}});
  ASSERT_EQ(zipped.size(), 2U);
  EXPECT_EQ(zipped[1], (At{{"workload.increments", integer(7)}, {"workload.lock", text("ticket")}}));
}

TEST_F(Sweep, PointsMadeEqualBySettingsAppearOnce) {
  const std::string zip =
      "[[sweep.together]]\n\"workload.lock\" = [\"tas\", \"ticket\", \"tas\"]\n\"workload.increments\" = [5, 6, 7]\n";
  EXPECT_EQ(points(zip, {{}, {{"workload.increments", "8"}}, {}}),
            (std::vector<At>{{{"workload.increments", integer(8)}, {"workload.lock", text("tas")}},
                             {{"workload.increments", integer(8)}, {"workload.lock", text("ticket")}}}));
  EXPECT_EQ(points(zip, {{}, {{"workload.increments", "8"}, {"workload.lock", "ticket"}}, {}}),
            (std::vector<At>{{{"workload.increments", integer(8)}, {"workload.lock", text("ticket")}}}));
}

TEST_F(Sweep, WorkloadsCanBeSweptWhereTheyShareTheParametersGiven) {
  const std::string plain = replace_line(kExperiment, "lock", "");
  const auto both = expand(load(plain + "[sweep]\n\"workload.name\" = [\"counter\", \"walk\"]\n"));
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[1].input.parameters.integer("nodes"), 10);
  EXPECT_THAT(error("\"workload.name\" = [\"counter\", \"walk\"]\n"),
              HasSubstr("e.toml:7:8: workload.lock: workload walk has no such parameter: unknown key"));
}

TEST_F(Sweep, TooManyPointsAreRefusedBeforeTheyAreMade) {
  std::string list = "[1";
  for (int i = 2; i <= 400; ++i) list += ", " + std::to_string(i);
  EXPECT_THAT(error("\"workload.increments\" = " + list + "]\n\"machine.memory.latency_ns\" = " + list + "]\n"),
              HasSubstr("the sweep has more than 100000 points"));
}

// Machines differ in caches and numbers of CPUs, so each point is checked against its own machine.
TEST_F(Sweep, TheMachineItselfCanBeAnAxis) {
  write("two.toml",
        replace_line(replace_line(kMachine, "name = \"m\"", "name = \"two\""), "latency_ns = 100", "latency_ns = 250"));
  const auto expanded = expand(load(sweep("machine = [\"m.toml\", \"two.toml\"]\n\"machine.cpus\" = [2, 4]\n")));
  ASSERT_EQ(expanded.size(), 4U);
  EXPECT_EQ(expanded[0].at.front(), (std::pair<std::string, ConfigValue>("machine", path("m.toml"))))
      << "a path becomes absolute";
  EXPECT_EQ(expanded[1].input.machine.name, "m");
  EXPECT_EQ(expanded[1].input.machine.memory.latency_ns, 100);
  EXPECT_EQ(expanded[2].input.machine.name, "two");
  EXPECT_EQ(expanded[2].input.machine.memory.latency_ns, 250);
  EXPECT_EQ(expanded[2].input.machine.cpus, 2);
  EXPECT_EQ(expanded[2].input.parameters.text("lock"), "tas") << "what the experiment sets holds on every machine";
  EXPECT_EQ(expanded[2].resolved["machine"]["memory"]["latency_ns"].value_or(0), 250);
}

TEST_F(Sweep, AMachineOnTheCommandLineLeavesOnePoint) {
  write("two.toml", replace_line(kMachine, "latency_ns = 100", "latency_ns = 250"));
  Overrides overrides;
  overrides.machine = path("two.toml");
  const auto expanded = expand(load(sweep("machine = [\"m.toml\", \"two.toml\"]\n"), overrides));
  ASSERT_EQ(expanded.size(), 1U);
  EXPECT_EQ(expanded[0].input.machine.memory.latency_ns, 250);
}

TEST_F(Sweep, WhatIsSweptMustFitEveryMachine) {
  write("small.toml", replace_line(kMachine, "cpus = 4", "cpus = 2"));
  EXPECT_THAT(error("machine = [\"m.toml\", \"small.toml\"]\n\"machine.cpus\" = [2, 4]\n"), HasSubstr("machine.cpus"));
  EXPECT_EQ(error("machine = [\"m.toml\", \"small.toml\"]\n\"machine.cpus\" = \"1..N\"\n"),
            "e.toml:13:18: machine.cpus: \"1..N\" is not the same for all of the swept machines; give a list");
  EXPECT_THAT(error("machine = [\"m.toml\", \"nowhere\"]\n"),
              HasSubstr("e.toml:12:11: machine: machine \"nowhere\" is not known"));
}

TEST_F(Sweep, ASweptMachineReadsBackAsItWasWritten) {
  write("two.toml", replace_line(kMachine, "latency_ns = 100", "latency_ns = 250"));
  const Experiment first = load(sweep("[[sweep.together]]\nmachine = [\"m.toml\", \"two.toml\"]\n\"machine.cpus\" = [2, 4]\n"));
  const Experiment second = load(to_toml(first.resolved));
  EXPECT_EQ(to_toml(second.resolved), to_toml(first.resolved));
  EXPECT_EQ(expand(second).at(1).input.machine.memory.latency_ns, 250);
}

}  // namespace
}  // namespace linebounce::sim
