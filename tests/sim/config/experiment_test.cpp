#include "fixture.hpp"

namespace linebounce::sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ExperimentFile : public ConfigFiles {
 protected:
  // kExperiment with more lines at its end, which begin at line 11.
  static std::string plus(const std::string& more) { return std::string(kExperiment) + more; }
  std::string with(const std::string& part, const std::string& replacement) const {
    return experiment_error(replace_line(kExperiment, part, replacement));
  }
  std::string set_error(const std::string& path, const std::string& value) const {
    return experiment_error(kExperiment, {{}, {{path, value}}, {}});
  }
  Point only_point(const std::string& text, const Overrides& overrides = {}) const {
    const auto points = expand(load(text, overrides));
    if (points.size() != 1) throw std::logic_error("not one point");
    return points.front();
  }
};

TEST_F(ExperimentFile, EveryValueReachesTheSimulationsInput) {
  const Experiment experiment = load(kExperiment);
  EXPECT_EQ(experiment.name, "e");
  EXPECT_EQ(experiment.title, "an experiment");
  EXPECT_EQ(experiment.machine_name, "m");
  EXPECT_EQ(experiment.seeds, 3);
  EXPECT_FALSE(experiment.overridden);
  const Point point = expand(experiment).at(0);
  EXPECT_TRUE(point.at.empty());
  EXPECT_EQ(point.input.seed, 7U);
  EXPECT_EQ(point.input.machine.cpus, 4);
  EXPECT_EQ(point.input.protocols.bus.name, "mesi_snoop");
  EXPECT_EQ(point.input.workload, "counter");
  EXPECT_EQ(point.input.parameters.text("lock"), "tas");
  EXPECT_DOUBLE_EQ(point.input.run.warmup_us, 2.5);
  EXPECT_DOUBLE_EQ(point.input.run.measure_us, 0);
}

// The title's length is limited, because each point of a sweep copies it.
TEST_F(ExperimentFile, ATitleOfAMegabyteIsRefused) {
  EXPECT_EQ(with("title", "title = \"" + std::string(1000000, 't') + "\""),
            "e.toml:2:9: title: a string of 1000000 bytes is too long; legal: at most 4096");
  EXPECT_EQ(with("title", "title = \"" + std::string(4096, 't') + "\""), "no error");
}

TEST_F(ExperimentFile, AWorkloadsDefaultsAreFilledInWithTheirDeclaredTypes) {
  const Parameters parameters = only_point(kExperiment).input.parameters;
  EXPECT_EQ(parameters.integer("increments"), 100);
  EXPECT_DOUBLE_EQ(parameters.number("think_ns"), 50);
  EXPECT_EQ(parameters.text("design"), "shared");
  EXPECT_FALSE(parameters.flag("pinned"));
  const auto whole = only_point(replace_line(kExperiment, "lock", "think_ns = 4")).input.parameters;
  EXPECT_DOUBLE_EQ(whole.number("think_ns"), 4);
}

TEST_F(ExperimentFile, PrecedenceIsMachineFileThenSetThenSweepThenCommandLine) {
  EXPECT_DOUBLE_EQ(only_point(kExperiment).input.machine.memory.latency_ns, 100);
  const auto set = plus("[set]\n\"machine.memory.latency_ns\" = 110\nworkload.lock = \"ticket\"\n");
  EXPECT_DOUBLE_EQ(only_point(set).input.machine.memory.latency_ns, 110);
  EXPECT_EQ(only_point(set).input.parameters.text("lock"), "ticket");
  const auto swept = set + "[sweep]\n\"machine.memory.latency_ns\" = [120]\n";
  EXPECT_DOUBLE_EQ(only_point(swept).input.machine.memory.latency_ns, 120);
  const auto point = only_point(swept, {{}, {{"machine.memory.latency_ns", "130"}}, {}});
  EXPECT_DOUBLE_EQ(point.input.machine.memory.latency_ns, 130);
  EXPECT_EQ(point.at, (std::vector<std::pair<std::string, ConfigValue>>{{"machine.memory.latency_ns", std::int64_t{130}}}));
}

TEST_F(ExperimentFile, CommandLineValuesAreTomlOrABareWord) {
  EXPECT_EQ(only_point(kExperiment, {{}, {{"workload.lock", "ticket"}}, {}}).input.parameters.text("lock"), "ticket");
  EXPECT_EQ(only_point(kExperiment, {{}, {{"workload.lock", "\"ticket\""}}, {}}).input.parameters.text("lock"), "ticket");
  EXPECT_FALSE(only_point(kExperiment, {{}, {{"engine.run_ahead", "false"}}, {}}).input.engine.run_ahead);
  EXPECT_EQ(set_error("workload.increments", "many"),
            "--set: workload.increments: expected an integer, found a string (\"many\")");
  EXPECT_EQ(set_error("workload.increments", ""), "--set: workload.increments: expected an integer, found a string (\"\")");
  EXPECT_EQ(set_error("workload.increments", "[1, 2]"), "--set: workload.increments: expected an integer, found an array");
  EXPECT_EQ(set_error("workload.increments", "1\nx = 2"),
            "--set: workload.increments: expected an integer, found a string (\"1\nx = 2\")");
}

TEST_F(ExperimentFile, TheCommandLineOverridesMachineWorkloadAndSeed) {
  write("other.toml", replace_line(kMachine, "name = ", "name = \"other\""));
  const Experiment machine = load(kExperiment, {path("other.toml"), {}, {}});
  EXPECT_EQ(machine.machine_name, "other");
  EXPECT_TRUE(machine.overridden);
  EXPECT_TRUE(load(kExperiment, {{}, {{"machine.cpus", "2"}}, {}}).overridden);
  EXPECT_TRUE(load(kExperiment, {{}, {{"workload.lock", "tas"}}, {}}).overridden);
  EXPECT_FALSE(load(kExperiment, {{}, {{"run.seeds", "2"}, {"engine.run_ahead", "false"}}, {}}).overridden);
  const Experiment seed = load(kExperiment, {{}, {}, 99});
  EXPECT_EQ(seed.seed, 99U);
  EXPECT_FALSE(seed.overridden);
  EXPECT_THAT(experiment_error(kExperiment, {{}, {}, -1}),
              HasSubstr("--seed: -1 is out of range; legal: 0 to 9007199254740992"));
  EXPECT_THAT(experiment_error(kExperiment, {"m", {}, {}}),
              HasSubstr("--machine: machine \"m\" is not known; `linebounce list machines` shows all "));
}

TEST_F(ExperimentFile, CpusCannotExceedTheMachines) {
  EXPECT_EQ(set_error("machine.cpus", "8"), "--set: machine.cpus: 8 is more than the machine's 4; legal: 1 to 4");
  EXPECT_EQ(set_error("machine.cpus", "0"), "--set: machine.cpus: 0 is out of range; legal: 1 to 512");
  EXPECT_EQ(set_error("machine.cpus_present", "8"),
            "--set: machine.cpus_present: stands in the machine's own file and cannot be set elsewhere");
  const auto machine = only_point(kExperiment, {{}, {{"machine.cpus", "1"}}, {}}).input.machine;
  EXPECT_EQ(machine.cpus, 1);
  EXPECT_EQ(machine.cpus_present, 4);
}

TEST_F(ExperimentFile, PathsThatDontExistNameNearOnesEverywhere) {
  EXPECT_EQ(set_error("machine.memory.latency_us", "1"),
            "--set: machine.memory.latency_us: unknown key; did you mean latency_ns, in ns?");
  EXPECT_EQ(set_error("memory.latency_ns", "1"),
            "--set: memory.latency_ns: unknown key; did you mean machine.memory.latency_ns?");
  EXPECT_EQ(set_error("machine.cores", "1"), "--set: machine.cores: unknown key; did you mean machine.cpus?");
  EXPECT_EQ(set_error("run.duration_us", "1"), "--set: run.duration_us: unknown key; did you mean run.measure_us?");
  EXPECT_EQ(set_error("machine.cache.L3.size_kib", "1"),
            "--set: machine.cache.L3.size_kib: unknown key; did you mean machine.cache.L2.size_kib?");
  EXPECT_THAT(set_error("machine.bus", "1"),
              StartsWith("--set: machine.bus: is a table of keys and takes no value; legal below machine.bus: protocol, "));
  EXPECT_THAT(set_error("machine", "p3"),
              HasSubstr("to choose a machine, write machine = \"NAME\" in the file, or --machine NAME"));
  EXPECT_EQ(set_error("workload.x", "1"),
            "--set: workload.x: unknown key; legal below workload: name, lock, increments, think_ns, design, pinned");
  EXPECT_EQ(set_error("xyzzy", "1"), "--set: xyzzy: unknown key; legal here: machine, run, engine, workload");
  EXPECT_EQ(experiment_error(plus("[set]\n\"workload.loc\" = \"tas\"\n")),
            "e.toml:12:18: workload.loc: unknown key; did you mean workload.lock?");
  EXPECT_EQ(experiment_error(plus("[sweep]\n\"machine.cpu.clok_mhz\" = [1]\n")),
            "e.toml:12:26: machine.cpu.clok_mhz: unknown key; did you mean machine.cpu.clock_mhz?");
}

TEST_F(ExperimentFile, UnknownNamesListTheKnownOnes) {
  EXPECT_EQ(with("name = \"counter\"", "name = \"countre\""),
            "e.toml:6:8: workload.name: \"countre\" is not known; known: counter, walk; did you mean counter?");
  EXPECT_EQ(with("lock", "lock = \"mcs\""), "e.toml:7:8: workload.lock: \"mcs\" is not known; known: ticket, tas");
  EXPECT_EQ(with("lock", "design = \"both\""), "e.toml:7:10: workload.design: \"both\" is not known; known: shared, split");
  EXPECT_EQ(with("lock", "incremets = 1"), "e.toml:7:13: workload.incremets: unknown key; did you mean workload.increments?");
  EXPECT_EQ(with("lock", "increments = 0"), "e.toml:7:14: workload.increments: 0 is out of range; legal: 1 to 1000000");
  EXPECT_THAT(with("machine", "machine = \"p3_xeon_4-way\""),
              AllOf(HasSubstr("e.toml:3:11: machine: machine \"p3_xeon_4-way\" is not known; did you mean "),
                    HasSubstr("p3_xeon_4way")));
  EXPECT_THAT(set_error("machine.bus.protocol", "mesi"),
              HasSubstr("--set: machine.bus.protocol: protocol \"mesi\" is not known; did you mean "));
  EXPECT_THAT(error_of([] { load_experiment("operation_cots", {}); }),
              HasSubstr("experiment \"operation_cots\" is not known; did you mean operation_costs"));
}

TEST_F(ExperimentFile, TopLevelKeysAreCheckedToo) {
  EXPECT_EQ(with("seed", "sead = 7"), "e.toml:4:1: sead: unknown key; did you mean seed?");
  EXPECT_EQ(with("[workload]", "[wokload]"), "e.toml:5:2: wokload: unknown key; did you mean workload?");
  EXPECT_EQ(with("warmup_us", "warmup_ms = 2"), "e.toml:9:13: run.warmup_ms: unknown key; did you mean warmup_us, in us?");
  EXPECT_EQ(with("seed =", "seed = -1"), "e.toml:4:8: seed: -1 is out of range; legal: 0 to 9007199254740992");
  EXPECT_EQ(with("name = \"e\"", ""), "e.toml:1:1: name: this key is missing and has no default");
  EXPECT_EQ(with("name = \"e\"", "name = \"a b\""),
            "e.toml:1:8: name: \"a b\" cannot name a results directory: no blanks, no leading dot, and slashes only between a "
            "folder and what is in it");
  EXPECT_EQ(with("machine", ""), "e.toml:1:1: machine: this key is missing: machine = \"NAME\", or [machine] tables");
  EXPECT_EQ(with("machine", "machine = 4"),
            "e.toml:3:11: machine: expected a machine's name or [machine] tables, found an integer (4)");
  EXPECT_EQ(with("name = \"counter\"", ""), "e.toml:5:1: workload.name: this key is missing and has no default");
  EXPECT_EQ(experiment_error("name = \"e\"\nmachine = \"m.toml\"\n"),
            "e.toml:1:1: workload: this table is missing; write [workload] and name = \"NAME\" below it (see: linebounce list "
            "workloads)");
  EXPECT_EQ(experiment_error(plus("[engine]\nrun_ahead = 1\n")),
            "e.toml:12:13: engine.run_ahead: expected true or false, found an integer (1)");
}

TEST_F(ExperimentFile, EngineSettingsReachTheInputAndNoResolvedConfiguration) {
  const Point point = only_point(plus("[engine]\nrun_ahead = false\nhorizon_slack_ticks = 1\n"));
  EXPECT_FALSE(point.input.engine.run_ahead);
  EXPECT_EQ(point.input.engine.horizon_slack_ticks, 1);
  EXPECT_TRUE(point.input.engine.parked_spins);
  EXPECT_FALSE(point.resolved.contains("engine"));
}

TEST_F(ExperimentFile, AProtocolPathIsTakenFromTheFileThatStatesIt) {
  std::filesystem::copy_file(std::filesystem::path(LINEBOUNCE_SOURCE_DIR) / "models/protocols/mesi_snoop.md",
                             folder_ / "mine.md");
  const Point point = only_point(plus("[set]\n\"machine.bus.protocol\" = \"mine.md\"\n"));
  EXPECT_EQ(point.input.protocols.bus.name, "mine");
  EXPECT_EQ(point.input.machine.bus.protocol, path("mine.md"));
  write("bad.md", "no protocol\n");
  EXPECT_THAT(experiment_error(plus("[set]\n\"machine.bus.protocol\" = \"bad.md\"\n")), HasSubstr("bad.md:"));
  EXPECT_EQ(experiment_error(plus("[set]\n\"machine.bus.protocol\" = \"none.md\"\n")), "none.md: there is no such file");
}

TEST_F(ExperimentFile, AMachineThatOnlyTheSweepMakesImpossibleIsFoundWhenTheFileIsRead) {
  EXPECT_EQ(experiment_error(plus("[sweep]\n\"machine.cache.L2.size_kib\" = [256, 300]\n")),
            "e.toml:12:31: machine.cache.L2.size_kib: 300 KiB in 8 ways of 64-byte lines make 600 sets; the number of sets "
            "must be a power of two");
}

}  // namespace
}  // namespace linebounce::sim
