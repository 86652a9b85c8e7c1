// An experiment as read from its TOML file, its points, and the typed input of one point.
#pragma once

#include <toml++/toml.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/answer/question.hpp"
#include "sim/config/settings.hpp"
#include "sim/config/toml_text.hpp"  // to_toml: the text of config.toml
#include "sim/point/config_error.hpp"
#include "sim/point/paper_row.hpp"
#include "sim/point/simulation_input.hpp"

namespace linebounce::sim {

// What varies together: one path, or several zipped by [[sweep.together]]. values[i] belongs to paths[i]; all have one length.
struct SweepAxis {
  std::vector<std::string> paths;
  std::vector<std::vector<ConfigValue>> values;
};

struct ExperimentTables;  // sim/config/experiment_tables.hpp

struct Experiment {
  std::string name, title;
  std::string machine_name;
  std::string family;      // what its rows are about, for `validate`: "lock"; empty: it doesn't say
  std::uint64_t seed = 1;  // of a point's first run; the others have seed + 1, seed + 2, ...
  int seeds = 1;           // runs per point
  toml::table resolved;    // what config.toml holds: every key with its value, [engine] left out
  EngineSpec engine;
  std::vector<SweepAxis> sweep;
  std::vector<PaperRow> paper;          // behind them those of the measured tables
  std::vector<MeasuredTable> measured;  // [[table]]s
  int report_lines = 0;                 // so many cache lines the terminal shows
  std::string sorted_by;  // a metric: the terminal has the points in its order, the largest first; empty: the sweep's order
  Question question;
  std::vector<std::string> assumptions;  // about its machines, as assumptions_of() words them
  bool overridden = false;  // machine, placement or workload changed on the command line: paper rows have "ok": null
  std::shared_ptr<const ExperimentTables> tables;  // what points are made from, with the place of every value
};

// A combination of the sweep, by number and place alone.
struct PointPlace {
  int number = 0;
  std::vector<std::pair<std::string, ConfigValue>> at;  // in the sweep's order; empty without a sweep
};

// With all that belongs to it: 80 to 200 KB.
struct Point : PointPlace {
  toml::table resolved;   // as Experiment::resolved, without [sweep], for this point alone
  SimulationInput input;  // typed, checked; its seed is the first of the point's seeds
};

// What the command line says on top of the file.
struct Overrides {
  std::optional<std::string> machine;
  std::vector<std::pair<std::string, std::string>> sets;  // path, value as TOML (a bare word is taken as a string)
  std::optional<std::int64_t> seed;
  // Path, and a list of such values, "1..N" or "*": swept, in the place of what the file gives for the path.
  std::vector<std::pair<std::string, std::string>> lists = {};
  std::string compare = {};  // the path whose values the answer compares; empty: as the experiment says
};

// Where configs/ and models/protocols/ are found: LINEBOUNCE_ROOT, else beside the program's source tree.
std::filesystem::path project_root();

// Reads NAME (configs/experiments/NAME.toml) or a path. A resolved config.toml reads the same way. Errors: ConfigError.
Experiment load_experiment(const std::string& name_or_path, const Overrides& overrides);

// The same, but what is wrong with a point as a whole is left to who makes it: in a large sweep that is most of the work.
Experiment load_unexpanded(const std::string& name_or_path, const Overrides& overrides);

// The combinations of the sweep; 1 without one.
std::size_t point_count(const Experiment& experiment);

// Every combination of the sweep. Deterministic in order and content.
std::vector<PointPlace> outline(const Experiment& experiment);

// Makes an experiment's points, each checked as a whole. A sweep may have a hundred thousand: they are made when they are
// needed, and not kept. What they share is read once: protocols, layouts, programs, what a trace says of its run.
// REQUIRES: the number is below point_count(). Errors: ConfigError.
using PointMaker = std::function<Point(int number)>;
PointMaker point_maker(Experiment experiment);

// Of resolved settings those that can change a result: titles, [[paper]] rows, [report] and sources are left out, so that a
// corrected tolerance doesn't throw away finished points.
toml::table essential_settings(const toml::table& resolved);

// 16 hex digits over everything that can change a result: the essential settings, the text of the files that they name.
std::string configuration_hash(const toml::table& resolved);

// Whether a point lies at all these values (of a paper row's `at` or `relative_to`).
bool lies_at(const PointPlace& point, const std::map<std::string, ConfigValue>& at);

}  // namespace linebounce::sim
