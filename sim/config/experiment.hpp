// An experiment as read from its TOML file, its points, and the typed input of one point.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
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
#include "sim/config/toml_text.hpp"  // for to_toml(), which writes config.toml
#include "sim/point/config_error.hpp"
#include "sim/point/paper_row.hpp"
#include "sim/point/simulation_input.hpp"

namespace linebounce::sim {

// One axis of a sweep. It has several paths if [[sweep.together]] zips them: values[i] belongs to paths[i], and all lists
// have the same length.
struct SweepAxis {
  std::vector<std::string> paths;
  std::vector<std::vector<ConfigValue>> values;
};

struct ExperimentTables;  // defined in sim/config/experiment_tables.hpp

struct Experiment {
  std::string name, title;
  std::string machine_name;
  std::string family;      // the subject of the experiment, by which `validate` groups results: "lock"; empty if not stated
  std::uint64_t seed = 1;  // seed of a point's first run; the others have seed + 1, seed + 2, ...
  int seeds = 1;           // runs per point
  toml::table resolved;    // the content of config.toml: every key with its value, without [engine]
  EngineSpec engine;
  std::vector<SweepAxis> sweep;
  std::vector<PaperRow> paper;          // the [[paper]] rows, followed by rows from measured tables
  std::vector<MeasuredTable> measured;  // [[table]]s
  int report_lines = 0;                 // how many cache lines the terminal shows
  // The metric by which the terminal sorts points, largest first; empty: the terminal keeps the sweep's order.
  std::string sorted_by;
  Question question;
  // About the machines, as worded by assumptions_of(). A plan adds those about its points' traces.
  std::vector<std::string> assumptions;
  // True if the command line changed the machine, placement or workload; paper rows then have "ok": null.
  bool overridden = false;
  bool native = false;                             // as Overrides::native
  std::shared_ptr<const ExperimentTables> tables;  // the settings from which points are made, with each value's origin
};

// One combination of the sweep's values, without the point's full configuration.
struct PointPlace {
  int number = 0;
  std::vector<std::pair<std::string, ConfigValue>> at;  // pairs of path and value, in the sweep's order; empty without a sweep
};

// A point with all its data: 80 to 200 KB.
struct Point : PointPlace {
  toml::table resolved;         // as Experiment::resolved, without [sweep], for this point only
  SimulationInput input;        // typed and checked; `seed` is that of the point's first run
  std::string assumption = {};  // about the trace that it replays, a sentence; empty: none
};

// Command-line options. They take precedence over the file's settings.
constexpr std::int64_t kDefaultSeed = 1;
constexpr std::int64_t kLargestSeed = std::int64_t{1} << 53;  // every JSON reader represents integers up to it exactly

struct Overrides {
  std::optional<std::string> machine;
  // Pairs of path and value; the value is TOML or a bare word, which is a string.
  std::vector<std::pair<std::string, std::string>> sets;
  std::optional<std::int64_t> seed;
  // Pairs of path and list, from --set PATH=LIST. The list ("[1, 2]", "1..N" or "*") replaces the file's values.
  std::vector<std::pair<std::string, std::string>> lists = {};
  std::string compare = {};  // the path whose values the answer compares; empty: the one that the experiment names
  bool native = false;       // true: permits compiling and running locks in C that the file names
  // Of `sets` and `lists`, and of "machine" for `machine`, those that another option gives than --set and --machine.
  OptionNames options = {};
};

// The folder that contains configs/ and models/protocols/. Tries LINEBOUNCE_ROOT, then this thread's ProjectHome, then the
// folders above the program. Errors: ConfigError.
std::filesystem::path project_root();

// Reads configs/experiments/NAME.toml, or a path. A resolved config.toml is read in the same way. Errors: ConfigError.
Experiment load_experiment(const std::string& name_or_path, const Overrides& overrides);

// Like load_experiment(), but does not check each point as a whole; PointMaker does so later. In a large sweep, this check is
// most of the work.
Experiment load_unexpanded(const std::string& name_or_path, const Overrides& overrides);

// The number of combinations in the sweep; 1 without one.
std::size_t point_count(const Experiment& experiment);

// Every combination of the sweep, in a deterministic order.
std::vector<PointPlace> outline(const Experiment& experiment);

// Makes the points of an experiment, and checks each one as a whole. Points are made on demand and not kept, because a sweep
// may have a hundred thousand of them. Files that points share (protocols, layouts, programs, the trace's summary) are read
// once. REQUIRES: number < point_count(). Errors: ConfigError.
using PointMaker = std::function<Point(int number)>;
PointMaker point_maker(Experiment experiment);

// The settings that can change a result. Leaves out titles, [[paper]] rows, [report] and sources, so that finished points
// stay valid when a tolerance is corrected.
toml::table essential_settings(const toml::table& resolved);

// 16 hex digits over everything that can change a result: the essential settings, and the text of the files that they name.
std::string configuration_hash(const toml::table& resolved);

// True if the point has all these values, which are the `at` or `relative_to` of a paper row.
bool lies_at(const PointPlace& point, const std::map<std::string, ConfigValue>& at);

}  // namespace linebounce::sim
