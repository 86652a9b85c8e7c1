// Plans an experiment: which points to run, and hashes that identify each point and the whole experiment.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/config/experiment.hpp"
#include "sim/results/paper.hpp"

namespace linebounce::sim {

// The protocols that one machine's configuration names.
struct ProtocolNames {
  std::string bus, node, directory;  // `node`, `directory`: empty for a machine without nodes

  auto operator<=>(const ProtocolNames&) const = default;
};

// What an answer states about the runs that it comes from: the workload and CPUs of the first point.
struct ResultsSubject {
  std::string workload;
  int cpus = 0;
};
ResultsSubject subject_of(const Point& point);

struct Plan {
  Experiment experiment;
  std::vector<PointPlace> points;
  PointMaker make_point;                  // makes the point with a given number, including all its data
  std::string hash;                       // of the whole experiment
  std::vector<std::string> hashes;        // by point; empty for points that make_plan() left out
  std::optional<ResultsSubject> subject;  // none if make_plan() left out the first point
  std::set<ProtocolNames> protocols;
  // A lock file that points use, with the memory models of the machines that run them.
  struct LockFile {
    SourceFile source;
    std::set<Consistency> consistencies;
  };
  std::map<std::string, LockFile> lock_files;
  std::map<std::string, bool> traces;  // traces to replay; true: the file must be undamaged
  std::vector<PaperPoints> paper;      // the points of each paper row; none if an override removed them

  [[nodiscard]] bool swept() const { return !experiment.sweep.empty(); }
};

// Checks the sweep's points and finds the points of each paper row. `only`: checks just these points. A process that runs one
// point of a thousand uses this, because the process that planned the sweep has checked the others. Errors: ConfigError.
Plan make_plan(Experiment experiment, const std::optional<std::vector<int>>& only = std::nullopt);

// The plan as `run --plan` prints it, for programs that distribute points over computers. `done`: points that a results
// directory already has; none: no directory was given.
std::string plan_text(const Plan& plan, const std::optional<std::vector<int>>& done = std::nullopt);

// Compares the paper rows with these results; points[k] is point number k.
std::vector<PaperResult> evaluate_paper(const Plan& plan, const std::vector<ReportedPoint>& points);

// "point 3 (machine.cpus = 8)", or "the run" without a sweep.
std::string point_name(const Plan& plan, int number);

// The points that the row's `at` (and `relative_to`) select. A shape needs two or more, in the sweep's order; any other row
// exactly one. Errors: ConfigError, which names the row.
PaperPoints select_points(const PaperRow& row, const std::vector<PointPlace>& points);

}  // namespace linebounce::sim
