// The planner: an experiment as the points to run, and what each of them and the whole are known by.
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

// Of one machine, as its configuration says them.
struct ProtocolNames {
  std::string bus, node, directory;  // node and directory: of a machine with nodes, else empty

  auto operator<=>(const ProtocolNames&) const = default;
};

struct Plan {
  Experiment experiment;
  std::vector<PointPlace> points;
  PointMaker make_point;            // the point of a number, with all that belongs to it
  std::string hash;                 // of the whole experiment
  std::vector<std::string> hashes;  // of each point; empty where it wasn't made
  std::set<ProtocolNames> protocols;
  // Locks that points name by their file, and the memory models of the machines that run them. By path.
  struct LockFile {
    SourceFile source;
    std::set<Consistency> consistencies;
  };
  std::map<std::string, LockFile> lock_files;
  std::map<std::string, bool> traces;  // that are replayed; whether the file must be without damage
  std::vector<PaperPoints> paper;      // for each paper row; empty for one that an override left without its point

  [[nodiscard]] bool swept() const { return !experiment.sweep.empty(); }
};

// Checks the sweep's points and finds each paper row's. With `only`, these points: who runs one of a thousand needn't make and
// check the rest, which the planner of the whole has done. Errors: ConfigError.
Plan make_plan(Experiment experiment, const std::optional<std::vector<int>>& only = std::nullopt);

// The plan as `run --plan` prints it, for programs that spread the points over machines. `done`: points that need not be run
// again, where a results directory was named.
std::string plan_text(const Plan& plan, const std::optional<std::vector<int>>& done = std::nullopt);

// The paper rows held against these results; points[k] is point number k.
std::vector<PaperResult> evaluate_paper(const Plan& plan, const std::vector<ReportedPoint>& points);

// "point 3 (machine.cpus = 8)", or "the run" without a sweep.
std::string point_name(const Plan& plan, int number);

// Finds the points that the row's `at` (and `relative_to`) select, comparing with where each point lies. A shape needs at
// least two, in the sweep's order, everything else exactly one. Errors: ConfigError naming the row.
PaperPoints select_points(const PaperRow& row, const std::vector<PointPlace>& points);

}  // namespace linebounce::sim
