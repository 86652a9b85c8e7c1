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

// Values that vary together, of one path or of several paths zipped by [[sweep.together]]. values[i] belongs to paths[i]; all
// lists have the same length.
struct SweepAxis {
  std::vector<std::string> paths;
  std::vector<std::vector<ConfigValue>> values;
};

struct ExperimentTables;  // defined in sim/config/experiment_tables.hpp

struct Experiment {
  std::string name, title;
  std::string machine_name;
  std::string family;      // what the experiment is about, for `validate`: "lock"; empty if not stated
  std::uint64_t seed = 1;  // seed of a point's first run; the others have seed + 1, seed + 2, ...
  int seeds = 1;           // runs per point
  toml::table resolved;    // the content of config.toml: every key with its value, without [engine]
  EngineSpec engine;
  std::vector<SweepAxis> sweep;
  std::vector<PaperRow> paper;          // the [[paper]] rows, followed by rows from measured tables
  std::vector<MeasuredTable> measured;  // [[table]]s
  int report_lines = 0;                 // how many cache lines the terminal shows
  std::string sorted_by;  // the metric by which the terminal sorts points, the largest first; empty: the sweep's order
  Question question;
  std::vector<std::string> assumptions;  // about its machines, worded by assumptions_of()
  bool overridden = false;  // whether the command line changed machine, placement or workload: paper rows then have "ok": null
  bool native = false;      // as Overrides::native
  std::shared_ptr<const ExperimentTables> tables;  // the input from which points are made, with the origin of each value
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
  std::vector<std::pair<std::string, std::string>> sets;  // a path and its value in TOML; a bare word is a string
  std::optional<std::int64_t> seed;
  // A path and the list of values to sweep, which replaces the file's values: "[1, 2]", "1..N" or "*".
  std::vector<std::pair<std::string, std::string>> lists = {};
  std::string compare = {};  // the path whose values the answer compares; empty: as the experiment says
  bool native = false;       // true: locks in C that the file names may be compiled and run
};

// The folder that contains configs/ and models/protocols/. LINEBOUNCE_ROOT names it; otherwise this thread's ProjectHome;
// otherwise it is found from the program's own path.
std::filesystem::path project_root();

// Reads configs/experiments/NAME.toml, or a path. A resolved config.toml is read in the same way. Errors: ConfigError.
Experiment load_experiment(const std::string& name_or_path, const Overrides& overrides);

// As load_experiment(), but leaves the check of each whole point to the caller. In a large sweep, this check is most of the
// work.
Experiment load_unexpanded(const std::string& name_or_path, const Overrides& overrides);

// The number of combinations in the sweep; 1 without one.
std::size_t point_count(const Experiment& experiment);

// Every combination of the sweep, in a deterministic order.
std::vector<PointPlace> outline(const Experiment& experiment);

// Makes the points of an experiment, and checks each one as a whole. Points are made when they are needed and are not kept,
// because a sweep may have a hundred thousand. Files that points share are read once: protocols, layouts, programs, the
// trace's summary. REQUIRES: number < point_count(). Errors: ConfigError.
using PointMaker = std::function<Point(int number)>;
PointMaker point_maker(Experiment experiment);

// The settings that can change a result. Leaves out titles, [[paper]] rows, [report] and sources, so that finished points
// stay valid when a tolerance is corrected.
toml::table essential_settings(const toml::table& resolved);

// 16 hex digits over everything that can change a result: the essential settings, and the text of the files that they name.
std::string configuration_hash(const toml::table& resolved);

// True if the point has all these values. They come from `at` or `relative_to` of a paper row.
bool lies_at(const PointPlace& point, const std::map<std::string, ConfigValue>& at);

}  // namespace linebounce::sim
