// Plans an experiment: the points to run, and hashes that identify each point and the whole.
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

// The protocols of one machine, by their names in its configuration.
struct ProtocolNames {
  std::string bus, node, directory;  // node, directory: empty for a machine without nodes

  auto operator<=>(const ProtocolNames&) const = default;
};

struct Plan {
  Experiment experiment;
  std::vector<PointPlace> points;
  PointMaker make_point;            // makes a point, with all its data, from its number
  std::string hash;                 // of the whole experiment
  std::vector<std::string> hashes;  // by point; empty for points that were not made
  std::set<ProtocolNames> protocols;
  // By path: lock files that points use, with the memory models of the machines that run them.
  struct LockFile {
    SourceFile source;
    std::set<Consistency> consistencies;
  };
  std::map<std::string, LockFile> lock_files;
  std::map<std::string, bool> traces;  // replayed traces; true if the file must be undamaged
  std::vector<PaperPoints> paper;      // the points of each paper row; empty if an override removed them

  [[nodiscard]] bool swept() const { return !experiment.sweep.empty(); }
};

// Checks the sweep's points and finds the points of each paper row. With `only`, checks just these points: a process that
// runs one of a thousand points need not check the others, because the planner of the whole sweep has done so. Errors:
// ConfigError.
Plan make_plan(Experiment experiment, const std::optional<std::vector<int>>& only = std::nullopt);

// The plan as `run --plan` prints it, for programs that distribute points over computers. `done`: the points that a given
// results directory already has.
std::string plan_text(const Plan& plan, const std::optional<std::vector<int>>& done = std::nullopt);

// Compares the paper rows with these results; points[k] is point number k.
std::vector<PaperResult> evaluate_paper(const Plan& plan, const std::vector<ReportedPoint>& points);

// "point 3 (machine.cpus = 8)", or "the run" without a sweep.
std::string point_name(const Plan& plan, int number);

// Finds the points that the row's `at` (and `relative_to`) select. A shape needs at least two, in the sweep's order; any other
// row exactly one. Errors: ConfigError naming the row.
PaperPoints select_points(const PaperRow& row, const std::vector<PointPlace>& points);

}  // namespace linebounce::sim
