#include "sim/terminal/run_report.hpp"

#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include "models/coherence/protocol.hpp"
#include "models/machine_layout.hpp"
#include "models/text/shell_word.hpp"
#include "sim/answer/point_choice.hpp"
#include "sim/answer/what_varies.hpp"
#include "sim/config/lua_files.hpp"
#include "sim/config/machine_file.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/config/sweep.hpp"
#include "sim/plan/output_directory.hpp"
#include "sim/results/csv.hpp"
#include "sim/results/paper.hpp"
#include "sim/results/result_files.hpp"
#include "sim/terminal/charts.hpp"
#include "sim/terminal/cpi_line.hpp"
#include "sim/terminal/limits_text.hpp"
#include "sim/terminal/line_table.hpp"
#include "sim/terminal/lock_table.hpp"
#include "sim/terminal/measured_view.hpp"
#include "sim/terminal/metrics_table.hpp"
#include "sim/terminal/paper_table.hpp"
#include "sim/terminal/progress_line.hpp"
#include "sim/terminal/terminal.hpp"
#include "sim/terminal/visible_output.hpp"
#include "workloads/locks/exclusion_check.hpp"

namespace linebounce::sim {
namespace {

// The answer, its reason, and a warning for each doubt.
std::string answer_text(const Answer& answer, const Painter& paint) {
  std::string out;
  if (!answer.text.empty()) out += paragraph(answer.text, 2, Colour::bold, paint);
  if (!answer.why.empty()) out += paragraph(answer.why, 2, Colour::none, paint);
  if (!out.empty() && !answer.doubts.empty()) out += "\n";
  for (const std::string& doubt : answer.doubts)
    out += "  " + paint(Colour::yellow, "WARNING") + "  " + wrapped_from(doubt, 11, Colour::none, paint);
  return out;
}

namespace fs = std::filesystem;

// "machine p3_xeon_4way"; in a sweep over machines, the number of machines.
std::string machines_text(const RunReport& report, const std::string& only) {
  std::set<ConfigValue> machines;
  for (const ReportedPoint& point : report.results.points) {
    if (const ConfigValue* machine = value_at(point, std::string(kMachineAxis))) machines.insert(*machine);
  }
  return machines.size() > 1 ? plural(machines.size(), "machine") : "machine " + only;
}

std::string heading(const Plan& plan, const RunReport& report, const Painter& paint) {
  const Experiment& experiment = plan.experiment;
  const std::size_t failed = report.failures.size();
  const std::size_t missing = report.missing.size();
  std::string points = machines_text(report, experiment.machine_name);
  if (plan.swept()) points += ", " + plural(plan.points.size(), "point");
  const std::string failures = failed == 0 ? "" : fmt::format(", {} FAILED", failed);
  const std::string gaps = missing == 0 ? "" : fmt::format(", {} not run", missing);
  std::string seeds = fmt::format(", seed {}", experiment.seed);
  if (experiment.seeds > 1) {
    const std::string interval = "± is half the 95 % confidence interval of the mean";
    seeds = ", " + plural(static_cast<std::uint64_t>(experiment.seeds), "seed") + (plan.swept() ? " each" : "");
    const bool fits = width_of(points + failures + gaps + seeds + "; " + interval) <= paint.columns();
    seeds += (fits ? "; " : "\n") + interval;
  }
  return titled(experiment.name, experiment.title, paint) + paint(Colour::dim, points) + paint(Colour::red, failures) +
         paint(Colour::yellow, gaps) + paint(Colour::dim, seeds) + "\n";
}

// Reads the rows of point `point` from one result file; none if there is no such file.
template <class Reader>
auto rows_of_point(const fs::path& file, int point, Reader reader) {
  using Rows = typename decltype(reader(std::string()))::mapped_type;
  if (!is_there(file)) return Rows{};
  auto points = reader(read_file(file));
  return std::move(points[point]);
}

// The core-to-core matrices of up to three points; empty for runs without any.
std::string matrices_of(const Plan& plan, const fs::path& directory, const Painter& paint) {
  constexpr int kMostPoints = 3;
  const fs::path file = directory / "matrix.csv";
  if (!is_there(file)) return "";
  std::string out;
  for (const auto& [number, rows] : read_matrix_csv(read_file(file))) {
    if (number >= kMostPoints) break;
    std::vector<int> nodes;
    for (const CpuPlace& place : lay_out(plan.make_point(number).input.machine).cpus) {
      nodes.push_back(place.node);
    }
    if (plan.swept()) out += "  " + paint(Colour::bold, point_name(plan, number)) + "\n";
    out += matrix_chart(rows, nodes, paint);
  }
  return out;
}

// Charts of quantities over time for up to three points; empty for runs without any.
std::string series_of(const Plan& plan, const fs::path& directory, const Painter& paint) {
  constexpr int kMostPoints = 3;
  const fs::path file = directory / "series.csv";
  if (!is_there(file)) return "";
  std::string out;
  for (const auto& [number, rows] : read_series_csv(read_file(file))) {
    if (number >= kMostPoints) break;
    if (plan.swept()) out += "  " + paint(Colour::bold, point_name(plan, number)) + "\n";
    out += series_chart(rows, paint);
  }
  return out;
}

// The cache lines with the highest total latency; empty unless the experiment asks for them.
std::string lines_text(const Plan& plan, const RunReport& report, const fs::path& directory, int point, const Painter& paint) {
  if (plan.experiment.report_lines == 0) return "";
  const std::vector<LineRow> rows = rows_of_point(directory / "lines.csv", point, read_lines_csv);
  if (rows.empty()) return "";
  const std::string out = line_table(lines_of(rows, {}), plan.experiment.report_lines, paint);
  const std::string subsystems = subsystem_table(report.results.points.at(point).metrics, paint);
  return subsystems.empty() ? out : out + "\n" + subsystems;
}

// The reports on one point, the user's or else the answer's: CPU time, latencies, locks and lines.
std::string one_point(const Plan& plan, const RunReport& report, const fs::path& directory, const std::string& wanted,
                      bool latencies, const Painter& paint) {
  if (!report.results.answer.point) return "";
  const int point = wanted.empty() ? *report.results.answer.point : chosen_point(wanted, report.results.points);
  std::vector<std::string> parts;
  if (latencies) parts.push_back(cpi_line(rows_of_point(directory / "cpi.csv", point, read_cpi_csv), paint));
  if (latencies) parts.push_back(latency_chart(rows_of_point(directory / "latency.csv", point, read_latency_csv), paint));
  parts.push_back(lock_table(rows_of_point(directory / "locks.csv", point, read_locks_csv), paint));
  parts.push_back(lines_text(plan, report, directory, point, paint));
  std::erase(parts, "");
  if (parts.empty()) return "";
  const Roles roles = roles_of(report.results.points, plan.experiment.question.compare);
  const std::string words = point_words(report.results.points.at(point), roles);
  if (plan.swept()) parts.insert(parts.begin(), "  " + paint(Colour::bold, fmt::format("Point {}: {}", point, words)) + "\n");
  return fmt::format("{}", fmt::join(parts, "\n"));
}

// The most points to show; of more, only those of the answer's important alternatives are shown.
constexpr std::size_t kMostRows = 40;

// Leaves out less important alternatives if there are more points than kMostRows.
std::vector<ReportedPoint> shown_points(std::vector<ReportedPoint> points, const Answer& answer) {
  if (points.size() <= kMostRows || answer.featured.empty()) return points;
  std::erase_if(points, [&](const ReportedPoint& point) {
    return std::ranges::find(answer.featured, *value_at(point, answer.compared)) == answer.featured.end();
  });
  return points;
}

// The answer, the rows of the paper, and the headline metrics of the compared points.
std::string figures_of(const Plan& plan, const RunReport& report, const ReportView& wanted, const Painter& paint) {
  std::vector<ReportedPoint> points = report.results.points;
  for (const PointFailure& failure : report.failures) points.at(failure.point).failed = true;
  const std::vector<PaperResult>& paper = report.results.paper;
  const Answer& answer = report.results.answer;
  const std::size_t all = points.size();
  if (!wanted.all_points && !wanted.all_metrics) points = shown_points(std::move(points), answer);
  const MetricsView view{plan.experiment.sorted_by, wanted.all_metrics};
  std::vector<std::string> parts = {answer_text(answer, paint), paper_table(paper, paint)};
  if (const std::string score = score_text(paper, paint); !score.empty()) parts.push_back("  " + score + "\n");
  if (paper.empty() || plan.swept() || wanted.all_metrics)
    parts.push_back(metrics_table(points, report.results.headlines, paint, view));
  if (points.size() < all) {
    parts.back() += paint(Colour::dim, fmt::format("  {}: --all prints them; results.json has them",
                                                   plural(all - points.size(), "more point"))) +
                    "\n";
  }
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, "\n"));
}

std::string reuse_text(const Plan& plan, const RunReport& report) {
  if (report.reused == 0) return "";
  const bool all = report.reused == std::ssize(plan.points);
  std::string text = all ? "These results were there already" : plural(report.reused, "point") + " had been run before";
  if (!report.reused_commit.empty()) text += ", made by another build (" + report.reused_commit + ")";
  return text + "; --fresh runs them again.\n\n";
}

std::string overridden_note(const Plan& plan) {
  if (!plan.experiment.overridden || plan.experiment.paper.empty()) return "";
  return "The machine or the workload was overridden: rows are not scored.\n";
}

// A note on protocols that no test of the project proves. Tests prove the project's own protocols, and each node protocol
// with the bus that its file names. Nothing is known about other protocols and pairs.
std::string unproved_note(const Plan& plan) {
  std::set<std::string> files;
  std::set<std::pair<std::string, std::string>> pairs;  // node and bus
  for (const ProtocolNames& names : plan.protocols) {
    for (const std::string& protocol : {names.bus, names.node, names.directory}) {
      if (is_path(kProtocolFiles, protocol)) files.insert(protocol);
    }
    if (!names.node.empty() && !is_path(kProtocolFiles, names.node)) pairs.insert({names.node, names.bus});
  }
  std::string note;
  for (const std::string& file : files)
    note += "Not one of the proved protocols; to check it: linebounce check " + shell_word(file) + "\n";
  for (const auto& [node, bus] : pairs) {
    if (partners_of(read_protocol_files(node))->bus != bus)
      note += fmt::format("{} joins another bus than its file names; to check the pair: linebounce check {} --bus {}\n", node,
                          shell_word(node), shell_word(bus));
  }
  return note;
}

// The path relative to the current folder or to the project's folder, whichever is shortest.
std::string nearest_path(const std::string& path) {
  if (!is_source_path(path)) return path;
  std::string shortest = path;
  for (const fs::path& folder : {fs::current_path(), project_root()}) {
    if (std::string from_there = fs::proximate(path, folder).string(); from_there.size() < shortest.size())
      shortest = std::move(from_there);
  }
  return shortest;
}

// Completes the message about a lock that failed to exclude: names the lock as the user would, and the command that shows the
// fault.
std::string failure_text(const std::string& message) {
  const std::size_t end = message.find(workloads::kDoesNotExclude);
  if (end == std::string::npos || end > message.find('\n')) return message;
  const std::string lock = nearest_path(message.substr(0, end));
  return lock + message.substr(end) + "\nTo see how: linebounce check-lock " + shell_word(lock);
}

}  // namespace

int available_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return std::max(1, CPU_COUNT(&cores));
}

bool nothing_finished(const RunReport& report) {
  return std::ranges::none_of(report.results.points, [](const ReportedPoint& point) { return point.finished; });
}

void tell_set_aside(const fs::path& directory, const fs::path& kept) {
  print_error(fmt::format("{}: earlier results are kept in {}", directory.string(), kept.string()));
}

RunReport run_with_progress(const Plan& plan, RunOptions options, const std::string& label, bool show) {
  ProgressLine line(label, show);
  options.set_aside = tell_set_aside;
  if (line.is_active()) options.progress = [&line](const Progress& progress) { line.show(progress); };
  if (show && !options.foretell) {
    options.foretell = [&label](std::size_t points, double seconds) {
      print_foretold(fmt::format("{}: {}", label, plural(points, "point")), seconds);
    };
  }
  return run_plan(plan, options);
}

void print_failures(const Plan& plan, const RunReport& report, const fs::path& directory) {
  for (const DamagedPoint& damaged : report.damaged) {
    const bool missing = std::ranges::find(report.missing, damaged.point) != report.missing.end();
    print_error(point_name(plan, damaged.point) + ": its earlier results are damaged: " + damaged.reason +
                (missing ? "" : "; it was run again"));
  }
  // Prints the first failure's text in full, and only the first line of the others.
  bool first = true;
  for (const PointFailure& failure : report.failures) {
    const std::string message = failure_text(failure.failure.message);
    const std::string where = plan.swept() ? point_name(plan, failure.point) + ": " : "";
    print_error(where + (first ? message : message.substr(0, message.find('\n'))));
    first = false;
  }
  if (report.code == ExitCode::interrupted) {
    print_error("interrupted; what is finished is in " + directory.string() + ", and the same command goes on from there");
  } else if (!report.missing.empty()) {
    print_error(fmt::format("{}: {} not run yet: {}", directory.string(), plural(report.missing.size(), "point"),
                            fmt::join(report.missing, " ")));
  }
}

std::string limits_of_traces(const Plan& plan, const Painter& paint) {
  trace::Limits all;
  for (const auto& [file, sound] : plan.traces) all.add(trace::stated_limits(trace::Reader(file, {.recover = !sound})));
  return limits_text(all, 0, paint);
}

void print_report(const Plan& plan, const RunReport& report, const fs::path& directory, const ReportView& wanted) {
  if (nothing_finished(report)) return;
  const Painter paint = painter_for_stdout();
  std::cout << limits_of_traces(plan, paint);
  // A core-to-core run shows its matrix instead of a latency chart, in which its CPUs' waiting would hide the hand-offs.
  const std::string matrices = matrices_of(plan, directory, paint);
  std::vector<std::string> parts = {
      reuse_text(plan, report) + heading(plan, report, paint),
      figures_of(plan, report, wanted, paint),
      matrices,
      series_of(plan, directory, paint),
      one_point(plan, report, directory, wanted.point, matrices.empty(), paint),
      race_note(report.results.points, paint),
      measured_tables(
          plan, report.results, [](const std::string&) { return true; }, paint),
  };
  std::erase(parts, "");
  std::cout << fmt::format("{}\n", fmt::join(parts, "\n")) << overridden_note(plan)
            << assumptions_text(plan.experiment.assumptions, paint) << unproved_note(plan)
            << results_line(directory.string() + "/", paint);
}

void print_point(const Plan& plan, int point, const RunReport& report, const fs::path& directory) {
  if (report.code != ExitCode::done) return;
  std::cout << point_name(plan, point) << (report.reused > 0 ? " was done already: " : " is done: ")
            << point_directory(directory, plan.swept(), point).string() << "/\n";
}

}  // namespace linebounce::sim
