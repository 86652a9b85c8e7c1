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
#include "sim/config/machine_file.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/plan/output_directory.hpp"
#include "sim/results/csv.hpp"
#include "sim/results/paper.hpp"
#include "sim/results/result_files.hpp"
#include "sim/results/run_health.hpp"
#include "sim/terminal/charts.hpp"
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

// Warnings about points whose figures mean less than they seem to. Empty if there is none.
std::string health_note(const std::vector<ReportedPoint>& points, const Painter& paint) {
  constexpr std::size_t kMostWarnings = 6;
  std::string out;
  std::size_t warnings = 0;
  for (const ReportedPoint& point : points) {
    const std::string where = point.at.empty() ? "" : point_title(point) + ": ";
    for (const std::string& warning : health_warnings(point)) {
      if (++warnings > kMostWarnings) continue;
      out += "  " + paint(Colour::yellow, "WARNING") + "  " + wrapped_from(where + warning, 11, Colour::none, paint);
    }
  }
  if (warnings > kMostWarnings) {
    out += "  " + paint(Colour::dim, fmt::format("{} more warnings are in results.json", warnings - kMostWarnings)) + "\n";
  }
  return out;
}

namespace fs = std::filesystem;

std::string heading(const Plan& plan, const RunReport& report, const Painter& paint) {
  const Experiment& experiment = plan.experiment;
  const std::size_t failed = report.failures.size();
  const std::size_t missing = report.missing.size();
  std::string points = "machine " + experiment.machine_name;
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

// The whole run's latencies; without a finished point there are none.
std::string chart_of(const Plan& plan, const fs::path& directory, const Painter& paint) {
  const fs::path file = directory / "latency.csv";
  if (!is_there(file)) return "";
  return latency_chart(read_latency_csv(read_file(file)), plan.points.size(), paint);
}

// The core-to-core matrices of the first points; empty for runs that measure none.
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

// How quantities went over time at the first points; empty for runs that have none.
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

// The locks of the point whose CPUs waited for them most; empty for runs that take none.
std::string locks_of(const Plan& plan, const RunReport& report, const fs::path& directory, const Painter& paint) {
  const fs::path file = directory / "locks.csv";
  if (!is_there(file)) return "";
  const std::map<int, std::vector<LockRow>> points = read_locks_csv(read_file(file));
  const auto most =
      std::ranges::max_element(points, [](const auto& a, const auto& b) { return lock_load(a.second) < lock_load(b.second); });
  if (most == points.end()) return "";
  const std::string table = lock_table(most->second, paint);
  if (table.empty() || plan.points.size() == 1) return table;
  const bool alone = points.size() == 1;
  const bool waited = lock_load(most->second).waited_pct > 0;
  const bool all_finish = report.failures.empty() && report.missing.empty();
  return "  " + paint(Colour::bold, "Locks of " + point_name(plan, most->first)) + "\n" +
         paint(Colour::dim, alone        ? "  the only point that has results of locks\n"
                            : waited     ? "  where the largest share of the CPUs' time went into waiting\n"
                            : all_finish ? "  where they were held most; nobody waited at any point\n"
                                         : "  where they were held most; at the points that have results, nobody waited\n") +
         table;
}

// The cache lines of the point with the most latency on them, if the experiment asks for some.
std::string lines_of_worst(const Plan& plan, const RunReport& report, const fs::path& directory, const Painter& paint) {
  const fs::path file = directory / "lines.csv";
  if (plan.experiment.report_lines == 0 || !is_there(file)) return "";
  std::map<int, std::vector<LineRow>> points = read_lines_csv(read_file(file));
  const int worst = costliest_point(points);
  std::string out = line_table(lines_of(points[worst], {}), plan.experiment.report_lines, paint);
  if (out.empty()) return out;
  if (plan.swept()) out = "  " + paint(Colour::bold, "Lines of " + point_name(plan, worst)) + "\n" + out;
  const auto& metrics = report.results.points.at(worst).metrics;
  const std::string subsystems = subsystem_table(metrics, paint);
  return subsystems.empty() ? out : out + "\n" + subsystems;
}

// The paper's rows and, of points that they are compared with each other, the headline metrics; what makes them mean less than
// they seem to.
std::string figures_of(const Plan& plan, const RunReport& report, bool all_metrics, const Painter& paint) {
  std::vector<ReportedPoint> points = report.results.points;
  for (const PointFailure& failure : report.failures) points.at(failure.point).failed = true;
  const std::vector<PaperResult>& paper = report.results.paper;
  const MetricsView view{plan.experiment.sorted_by, all_metrics};
  std::string out = paper_table(paper, paint);
  if (const std::string score = score_text(paper, paint); !score.empty()) out += (out.empty() ? "  " : "\n  ") + score + "\n";
  if (const std::string answer = lock_answer(points); !answer.empty())
    out += (out.empty() ? "" : "\n") + paragraph(answer, 2, Colour::bold, paint);
  if (paper.empty() || plan.swept() || all_metrics)
    out += (out.empty() ? "" : "\n") + metrics_table(points, report.results.headlines, paint, view);
  const std::string warnings = health_note(points, paint);
  return warnings.empty() ? out : out + "\n" + warnings;
}

std::string reuse_text(const Plan& plan, const RunReport& report) {
  if (report.reused == 0) return "";
  const bool all = report.reused == std::ssize(plan.points);
  std::string text = all ? "These results were there already" : plural(report.reused, "point") + " had been run before";
  if (!report.reused_commit.empty()) text += ", made by another build (" + report.reused_commit + ")";
  return text + "; --fresh runs them again.\n\n";
}

std::string with_newline(const std::string& sentence) {
  return sentence.empty() ? "" : sentence + "\n";
}

std::string overridden_note(const Plan& plan) {
  if (!plan.experiment.overridden || plan.experiment.paper.empty()) return "";
  return "The machine or the workload was overridden: rows are not scored.\n";
}

// The project's own protocols are proved by its tests, a node's with the bus that its file names; of another, or another pair,
// nobody here knows whether it has been.
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
  for (const std::string& file : files) note += "Not one of the proved protocols; to check it: linebounce check " + file + "\n";
  for (const auto& [node, bus] : pairs) {
    if (partners_of(read_protocol_files(node))->bus != bus)
      note += fmt::format("{0} joins another bus than its file names; to check the pair: linebounce check {0} --bus {1}\n",
                          node, bus);
  }
  return note;
}

// A lock that lets others in is named as the user would, and what looks into it.
std::string failure_text(const std::string& message) {
  const std::size_t end = message.find(workloads::kDoesNotExclude);
  if (end == std::string::npos || end > message.find('\n')) return message;
  const std::string lock = shown_value(message.substr(0, end));
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

RunReport run_with_progress(const Plan& plan, RunOptions options, const std::string& label, bool show) {
  ProgressLine line(label, show);
  options.progress = [&line](const Progress& progress) { line.show(progress); };
  return run_plan(plan, options);
}

void print_failures(const Plan& plan, const RunReport& report, const fs::path& directory) {
  for (const DamagedPoint& damaged : report.damaged) {
    const bool missing = std::ranges::find(report.missing, damaged.point) != report.missing.end();
    print_error(point_name(plan, damaged.point) + ": its earlier results are damaged: " + damaged.reason +
                (missing ? "" : "; it was run again"));
  }
  // The whole story once; the other points tell their first line.
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

void print_report(const Plan& plan, const RunReport& report, const fs::path& directory, bool all_metrics) {
  if (nothing_finished(report)) return;
  const Painter paint = painter_for_stdout();
  std::cout << reuse_text(plan, report) << heading(plan, report, paint) << "\n"
            << figures_of(plan, report, all_metrics, paint) << "\n";
  // A core-to-core run's latencies are in its matrix; the chart would show the waiting.
  const std::string matrices = matrices_of(plan, directory, paint);
  const std::string chart = matrices.empty() ? chart_of(plan, directory, paint) : matrices;
  if (!chart.empty()) std::cout << chart << "\n";
  const std::string series = series_of(plan, directory, paint);
  if (!series.empty()) std::cout << series << "\n";
  const std::string locks = locks_of(plan, report, directory, paint) + race_note(report.results.points, paint);
  if (!locks.empty()) std::cout << locks << "\n";
  const std::string lines = lines_of_worst(plan, report, directory, paint);
  if (!lines.empty()) std::cout << lines << "\n";
  const std::string tables = measured_tables(
      plan, report.results, [](const std::string&) { return true; }, paint);
  if (!tables.empty()) std::cout << tables << "\n";
  std::cout << overridden_note(plan) << with_newline(plan.experiment.assumptions) << unproved_note(plan)
            << "Results: " << directory.string() << "/\n";
}

void print_point(const Plan& plan, int point, const RunReport& report, const fs::path& directory) {
  if (report.code != ExitCode::done) return;
  std::cout << point_name(plan, point) << (report.reused > 0 ? " was done already: " : " is done: ")
            << point_directory(directory, plan.swept(), point).string() << "/\n";
}

}  // namespace linebounce::sim
