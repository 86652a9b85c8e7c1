// `linebounce trace record`
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/commands/commands.hpp"
#include "sim/config/experiment.hpp"
#include "trace/writer.hpp"
#include "workloads/replay/recorder.hpp"

namespace linebounce {

namespace {

struct RecordArguments {
  std::string experiment, machine, file;
  std::vector<std::string> sets;
  std::optional<std::uint64_t> seed;
  int point = 0;
  double longer = 1.25;
};

constexpr const char* kFooter = R"(
Examples:
  linebounce trace record dcache_dbench --point 3 -o dbench.lbt
  linebounce trace record random.toml -o random.lbt --for 2

A run with a measured time is recorded for longer than that, so that a replay on a faster machine, or with a better lock, has
something to do until the end of the time: --for says how much longer.)";

class Recording final : public SimulationTap {
 public:
  ProgramTap& begin(const AddressSpace& memory, const LockSet& locks, const Timebase& timebase, int cpus) override {
    return recorder_.emplace(memory, locks, timebase, cpus);
  }
  void end(const PointData&) override { recorder_->write(*writer_, summary_); }

  Recording(trace::Writer& writer, trace::Summary summary) : writer_(&writer), summary_(std::move(summary)) {}

 private:
  trace::Writer* writer_;
  trace::Summary summary_;
  std::optional<Recorder> recorder_;
};

ExitCode record(const RecordArguments& arguments) {
  Overrides overrides;
  if (!arguments.machine.empty()) overrides.machine = arguments.machine;
  overrides.seed = arguments.seed;
  for (const std::string& set : arguments.sets) {
    const std::size_t equals = set.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw ConfigError("--set " + set + ": must be path=value, such as machine.memory.latency_ns=200");
    overrides.sets.emplace_back(set.substr(0, equals), set.substr(equals + 1));
  }
  const Experiment experiment = load_experiment(arguments.experiment, overrides);
  const std::vector<Point> points = expand(experiment);
  if (arguments.point < 0 || arguments.point >= static_cast<int>(points.size())) {
    throw ConfigError(fmt::format("--point {}: this experiment has {} points, counted from 0", arguments.point, points.size()));
  }
  const Point& point = points[static_cast<std::size_t>(arguments.point)];
  SimulationInput input = point.input;
  input.run.measure_us *= arguments.longer;
  trace::Writer writer(arguments.file);
  Recording recording(writer,
                      {.program = input.workload,
                       .recorder = fmt::format("linebounce trace record {} --point {}", arguments.experiment, arguments.point),
                       .machine = input.machine.name,
                       .misses = {},
                       .configuration = to_toml(point.resolved),
                       .missing = {}});
  simulate_with(recording, input, {});
  return ExitCode::done;
}

}  // namespace

void add_trace_record(CLI::App& trace, Invocation& invocation) {
  auto arguments = std::make_shared<RecordArguments>();
  CLI::App* command = trace.add_subcommand("record", "Run a point of an experiment and record what its programs do");
  command->add_option("EXPERIMENT", arguments->experiment, "A name or a TOML file")->type_name("")->required();
  command->add_option("-o,--output", arguments->file, "The trace; text if its name ends in .txt")
      ->type_name("FILE")
      ->required();
  command->add_option("--point", arguments->point, "Which point of the sweep; default: 0")->type_name("K");
  command->add_option("--machine", arguments->machine, "Use this machine instead of the experiment's")->type_name("NAME");
  command->add_option("--set", arguments->sets, "Override a value; may be repeated")
      ->type_name("path=value")
      ->allow_extra_args(false);
  command->add_option("--seed", arguments->seed, "Seed of the run; default: the experiment's")->type_name("N");
  command->add_option("--for", arguments->longer, "How many times the measured time is recorded; default: 1.25")
      ->type_name("FACTOR")
      ->check(CLI::Range(1.0, 100.0).description(""));
  command->footer(kFooter);
  command->callback([arguments, &invocation] { invocation.action = [arguments] { return record(*arguments); }; });
}

}  // namespace linebounce
