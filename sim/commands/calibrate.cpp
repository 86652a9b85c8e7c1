#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include "sim/commands/command.hpp"
#include "sim/commands/common_options.hpp"
#include "sim/config/project_files.hpp"
#include "sim/results/result_files.hpp"
#include "sim/studies/calibrate/calibration.hpp"
#include "sim/studies/calibrate/simulated_apart.hpp"
#include "sim/terminal/calibration_report.hpp"
#include "sim/terminal/run_report.hpp"
#include "sim/terminal/visible_output.hpp"

namespace linebounce::sim {
namespace {

struct CalibrateArguments {
  std::string from;
  std::string machine;
  std::string output;
  std::string access = "atomic";
  std::string family;
  int at_once = available_cores();
};

constexpr const char* kCalibrateFooter = R"(
FILE is what linebounce-probe writes, or a matrix as `core-to-core-latency --csv` prints it: a row and a column for each
CPU, in nanoseconds, without a header; the diagonal and one side of it may be empty. The tool's terminal output is read as
well. Groups of CPUs may differ in size, and cores have positions. docs/calibrate.md says what is fitted, and how.

Examples:
  linebounce-probe -o mine.probe                                               measure this machine
  linebounce calibrate --from mine.probe -o mine.toml
  linebounce run core_to_core --machine mine.toml --set workload.access=atomic    shows the fitted matrix
  core-to-core-latency --csv > mine.csv && linebounce calibrate --from mine.csv -o mine.toml
  linebounce calibrate --from mine.csv --machine x445_8way -o my_x445.toml     x445_8way's structure, your latencies)";

// Shows how many candidates have been simulated, on standard error if that is a terminal.
class CandidateLine {
 public:
  CandidateLine() : active_(::isatty(STDERR_FILENO) == 1) {}
  ~CandidateLine() {
    if (active_) std::cerr << kClearLine << std::flush;
  }
  CandidateLine(const CandidateLine&) = delete;
  CandidateLine& operator=(const CandidateLine&) = delete;

  void show(int candidates) const {
    if (active_) std::cerr << kClearLine << fmt::format("calibrate: {} machines simulated", candidates) << std::flush;
  }

 private:
  bool active_;
};

ExitCode run_calibrate(const CalibrateArguments& arguments) {
  if (std::filesystem::path(arguments.output).extension() != ".toml") {
    throw ConfigError("--output " + arguments.output + ": a machine file's name ends in .toml");
  }
  CalibrationRequest request;
  request.name = std::filesystem::path(arguments.output).stem().string();
  if (!names_directory(request.name)) {
    throw ConfigError("--output " + arguments.output + ": the machine is named as its file, and \"" + request.name + "\" " +
                      kNoDirectoryName);
  }
  request.matrix_file = arguments.from;
  const std::string text = read_text(arguments.from);
  if (is_probe_file(text)) {
    request.probe = parse_probe_file(text, arguments.from);
    request.measured = request.probe->matrix;
  } else {
    request.measured = parse_latency_matrix(text, arguments.from);
  }
  if (!arguments.machine.empty()) request.machine = arguments.machine;
  request.access = arguments.access;
  if (!arguments.family.empty()) request.family = arguments.family;
  request.at_once = arguments.at_once;
  Calibration calibration;
  try {
    const CandidateLine line;
    request.progress = [&line](int candidates) { line.show(candidates); };
    calibration = calibrate(request);
  } catch (const Interrupted&) {
    std::cerr << "linebounce: interrupted; nothing was written\n";
    return ExitCode::interrupted;
  }
  write_file(arguments.output, machine_file_text(calibration, arguments.from));
  std::cout << calibration_report(calibration, painter_for_stdout());
  std::cout << fmt::format("\n  Written: {}\n  See it:  linebounce run core_to_core --machine {}{}\n", arguments.output,
                           arguments.output, arguments.access == "atomic" ? " --set workload.access=atomic" : "");
  return ExitCode::done;
}

}  // namespace

void add_calibrate(Command& program) {
  const auto arguments = std::make_shared<CalibrateArguments>();
  Command command =
      program.subcommand("calibrate", "Fit a machine to measurements: linebounce-probe's, or a core-to-core matrix");
  command.option("--from", "FILE", &arguments->from, "linebounce-probe's file, or a matrix: CSV, in nanoseconds").required();
  command.option(
      "--machine", "NAME", &arguments->machine,
      "Keep this machine's structure; default: the one found in the measurements, with the rest of generic_2socket_32core");
  command.option("-o,--output", "MACHINE.toml", &arguments->output, "The machine file to write").required();
  command
      .option("--access", "atomic|load", &arguments->access,
              "What the matrix measures: atomic (core-to-core-latency's compare-and-exchange) or load; default: atomic")
      .one_of({"atomic", "load"});
  command.option("--family", "NAME", &arguments->family,
                 "Contention family (linebounce list families); default: that of the probed processor, else the machine's");
  add_jobs(command, arguments->at_once);
  command.footer(kCalibrateFooter);
  command.action([arguments] { return run_calibrate(*arguments); });
}

}  // namespace linebounce::sim
