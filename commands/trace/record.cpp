// `linebounce trace record`
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "commands/common/command.hpp"
#include "commands/common/common_options.hpp"
#include "models/machine/machine.hpp"
#include "models/ordinal.hpp"
#include "sim/config/experiment.hpp"
#include "sim/plan/unfinished_file.hpp"
#include "sim/simulation/simulate.hpp"
#include "sim/statistics/source_names.hpp"
#include "sim/terminal/progress_line.hpp"
#include "trace/files.hpp"
#include "trace/writer.hpp"
#include "workloads/replay/recorder.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

struct RecordArguments : OverrideArguments {
  std::string experiment, file;
  int point = 0;
  double longer = 1.25;
};

constexpr const char* kRecordFooter = R"(Examples:
  linebounce trace record dcache_dbench --point 3 -o dbench.lbt
  linebounce trace record random.toml -o random.lbt --for 2

A run with a measured time is recorded for longer (--for), so that a replay on a faster machine or with a better lock still has work
until the end. FILE is replaced when the recording is complete: one that fails or is interrupted leaves the previous file.)";

// Records the whole run, but counts misses only in the measured time.
class Recording final : public SimulationTap {
 public:
  Recording(trace::Writer& writer, trace::Summary summary, const RunSpec& measured)
      : writer_(&writer), summary_(std::move(summary)), measured_(measured) {}

  ProgramTap& begin(Machine& machine, const AddressSpace& memory, const LockSet& locks) override {
    const Timebase& timebase = machine.timebase();
    from_ = timebase.from_us(measured_.warmup_us);
    if (measured_.measure_us > 0) to_ = from_ + timebase.from_us(measured_.measure_us);
    return recorder_.emplace(memory, locks, timebase, machine.cpus());
  }
  void miss(const Miss& miss) override {
    // Ignores misses that are still in flight at the end of the measured time.
    if (miss.issued >= from_ && miss.issued + miss.latency < to_) ++misses_.at(ordinal(miss.source));
  }
  void end(const PointData&) override {
    for (std::size_t source = 0; source < misses_.size(); ++source) {
      if (misses_[source] > 0) summary_.misses[kSourceNames[source]] = misses_[source];
    }
    recorder_->write(*writer_, summary_);
  }

 private:
  trace::Writer* writer_;
  trace::Summary summary_;
  RunSpec measured_;
  Tick from_ = 0, to_ = kNever;
  std::array<std::int64_t, kSources> misses_{};
  std::optional<Recorder> recorder_;
};

void simulate_with_progress(Recording& recording, const SimulationInput& input) {
  ProgressLine line("recording " + input.workload, true);
  const auto begin = std::chrono::steady_clock::now();
  simulate_with(recording, input, [&](double share) {
    const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    line.show({.points = 1, .points_done = 0, .share = share, .elapsed_s = elapsed});
  });
}

ExitCode record(const RecordArguments& arguments) {
  trace::require_trace_name("--output", arguments.file);
  const Experiment experiment = load_unexpanded(arguments.experiment, overrides_of(arguments));
  require_point(arguments.point, point_count(experiment));
  const Point point = point_maker(experiment)(arguments.point);
  SimulationInput input = point.input;
  input.run.measure_us *= arguments.longer;
  UnfinishedFile file(arguments.file);
  trace::Writer writer(file.path());
  Recording recording(writer,
                      {.program = input.workload,
                       .recorder = fmt::format("linebounce trace record {} --point {}", arguments.experiment, arguments.point),
                       .machine = input.machine.name,
                       .misses = {},
                       .configuration = to_toml(point.resolved),
                       .missing = {}},
                      point.input.run);
  simulate_with_progress(recording, input);
  file.finish();
  return ExitCode::done;
}

}  // namespace

void add_trace_record(Command& trace) {
  auto arguments = std::make_shared<RecordArguments>();
  Command command = trace.child("record", "Run a point of an experiment and record its programs' operations");
  command.option("EXPERIMENT", "", &arguments->experiment, "A name or a TOML file").required();
  command.option("-o,--output", "FILE", &arguments->file, "The trace: NAME.lbt, or NAME.txt as text").required();
  command.option("--point", "K", &arguments->point, "The point of the sweep, counted from 0; default: 0");
  add_overrides(command, *arguments);
  command
      .option("--for", "FACTOR", &arguments->longer,
              "Length of the recording, as a multiple of the measured time; default: 1.25")
      .between_reals(1, 100);
  command.footer(kRecordFooter);
  command.action([arguments] { return record(*arguments); });
}

}  // namespace linebounce::sim
