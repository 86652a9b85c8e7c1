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

// Values that vary together: of one path, or of several zipped by [[sweep.together]]. values[i] belongs to paths[i]; all lists
// have the same length.
struct SweepAxis {
  std::vector<std::string> paths;
  std::vector<std::vector<ConfigValue>> values;
};

struct ExperimentTables;  // defined in sim/config/experiment_tables.hpp

struct Experiment {
  std::string name, title;
  std::string machine_name;
  std::string family;      // the subject of its rows, for `validate`: "lock"; empty if unstated
  std::uint64_t seed = 1;  // seed of a point's first run; the others have seed + 1, seed + 2, ...
  int seeds = 1;           // runs per point
  toml::table resolved;    // the content of config.toml: every key with its value, without [engine]
  EngineSpec engine;
  std::vector<SweepAxis> sweep;
  std::vector<PaperRow> paper;          // followed by those of the measured tables
  std::vector<MeasuredTable> measured;  // [[table]]s
  int report_lines = 0;                 // how many cache lines the terminal shows
  std::string sorted_by;  // the metric by which the terminal sorts points, the largest first; empty: the sweep's order
  Question question;
  std::vector<std::string> assumptions;  // about its machines, worded by assumptions_of()
  bool overridden = false;  // whether the command line changed machine, placement or workload: paper rows then have "ok": null
  bool native = false;      // as Overrides::native
  std::shared_ptr<const ExperimentTables> tables;  // the input from which points are made, with the origin of every value
};

// A combination of the sweep: only its number and swept values.
struct PointPlace {
  int number = 0;
  std::vector<std::pair<std::string, ConfigValue>> at;  // in the sweep's order; empty without a sweep
};

// A point with all its data: 80 to 200 KB.
struct Point : PointPlace {
  toml::table resolved;   // as Experiment::resolved, without [sweep], for this point only
  SimulationInput input;  // typed and checked; its seed is the point's first
};

// Command-line options on top of the file.
struct Overrides {
  std::optional<std::string> machine;
  std::vector<std::pair<std::string, std::string>> sets;  // path, and value as TOML (a bare word is a string)
  std::optional<std::int64_t> seed;
  // A path and its values, "1..N" or "*": swept, replacing the file's value for the path.
  std::vector<std::pair<std::string, std::string>> lists = {};
  std::string compare = {};  // the path whose values the answer compares; empty: as the experiment says
  bool native = false;       // locks in C that the file names may be compiled and run
};

// The folder with configs/ and models/protocols/: LINEBOUNCE_ROOT, else this thread's ProjectHome, else that of the program's
// source tree.
std::filesystem::path project_root();

// Reads NAME (configs/experiments/NAME.toml) or a path. A resolved config.toml reads the same way. Errors: ConfigError.
Experiment load_experiment(const std::string& name_or_path, const Overrides& overrides);

// The same, but the caller must check points as a whole, which in a large sweep is most of the work.
Experiment load_unexpanded(const std::string& name_or_path, const Overrides& overrides);

// The number of combinations in the sweep; 1 without one.
std::size_t point_count(const Experiment& experiment);

// Every combination of the sweep, in a deterministic order.
std::vector<PointPlace> outline(const Experiment& experiment);

// Makes an experiment's points, each checked as a whole. A sweep may have a hundred thousand, so points are made when needed,
// and not kept. Shared inputs are read once: protocols, layouts, programs, the trace's summary. REQUIRES: the number is below
// point_count(). Errors: ConfigError.
using PointMaker = std::function<Point(int number)>;
PointMaker point_maker(Experiment experiment);

// The settings that can change a result. Titles, [[paper]] rows, [report] and sources are left out, so that a corrected
// tolerance doesn't invalidate finished points.
toml::table essential_settings(const toml::table& resolved);

// 16 hex digits over everything that can change a result: the essential settings, and the text of the files that they name.
std::string configuration_hash(const toml::table& resolved);

// Whether a point has all these values (of a paper row's `at` or `relative_to`).
bool lies_at(const PointPlace& point, const std::map<std::string, ConfigValue>& at);

}  // namespace linebounce::sim
