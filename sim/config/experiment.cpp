#include "sim/config/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/config/experiment_tables.hpp"
#include "sim/config/extends.hpp"
#include "sim/config/load_experiment.hpp"
#include "sim/config/measured_tables.hpp"
#include "sim/config/paper_rows.hpp"
#include "sim/config/placement.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/resolved.hpp"
#include "sim/config/sweep.hpp"
#include "sim/config/table_reader.hpp"
#include "sim/config/trace_layouts.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kCommandLine = "set on the command line";
constexpr int kMostReportedLines = 1000;
constexpr std::int64_t kLargestSeed = std::int64_t{1} << 53;  // exact in every reader of JSON

// The value of --set PATH=VALUE: TOML, or else a bare word.
ConfigValue command_line_value(const KeyInfo& key, const std::string& text, const Origin& origin) {
  toml::table parsed;
  try {
    if (text.find('\n') == std::string::npos) parsed = toml::parse("value = " + text);
  } catch (const toml::parse_error&) {
    parsed.clear();
  }
  const auto* node = parsed.get("value");
  const ConfigValue value = node ? plain_value(*node, origin, key.path, key.type) : ConfigValue{text};
  return anchor_path(key.path, checked(key, value, origin), "");
}

// "counter", or in a folder "what_if/counter".
bool names_directory(const std::string& name) {
  if (name.find_first_of("\\ \t\n") != std::string::npos || name.ends_with('/')) return false;
  for (std::size_t part = 0; part != std::string::npos; part = name.find('/', part)) {
    part += part > 0 ? 1 : 0;
    if (part == name.size() || name[part] == '.' || name[part] == '/') return false;
  }
  return true;
}

class ExperimentReader {
 public:
  ExperimentReader(const std::filesystem::path& file, const toml::table& table, const Overrides& overrides,
                   const Catalogue& catalogue)
      : reader_(table, file.string(), ""), overrides_(overrides), tables_(std::make_shared<ExperimentTables>()) {
    tables_->file = file.string();
    tables_->catalogue = catalogue;
  }

  Experiment read() {
    identity();
    const auto* machine = reader_.node("machine");
    placement_ = reader_.table("placement");
    workload_ = reader_.table("workload");
    run_ = reader_.table("run");
    engine_ = reader_.table("engine");
    set_ = reader_.table("set");
    sweep_ = reader_.table("sweep");
    layout_ = reader_.table("layout");
    const auto* paper = reader_.array("paper");
    measured_ = reader_.array("table");
    read_report(reader_.table("report"));
    reader_.finish();
    if (!workload_) reader_.refuse("workload", "this table is missing: [workload] and its name");
    read_machine(machine);
    collect_keys();
    read_layers();
    if (sweep_ && sweeps_machine(*sweep_)) tables_->keys.add(machine_axis_key());
    if (sweep_) experiment_.sweep = read_sweep(*sweep_, *tables_);
    if (overrides_.machine) pin(experiment_.sweep, std::string(kMachineAxis), *overrides_.machine);
    read_swept_machines();
    for (const auto& [path, text] : overrides_.sets) set_from_command_line(path, text);
    finish(paper);
    return std::move(experiment_);
  }

 private:
  void identity() {
    experiment_.name = reader_.required_text("name");
    if (!names_directory(experiment_.name)) {
      reader_.refuse("name", fmt::format("\"{}\" cannot name a results directory: no blanks, no leading dot, and slashes only "
                                         "between a folder and what is in it",
                                         experiment_.name));
    }
    experiment_.title = reader_.text("title").value_or("");
    const auto own_seed = reader_.integer("seed", 0, static_cast<double>(kLargestSeed)).value_or(1);
    const std::int64_t seed = overrides_.seed.value_or(own_seed);
    if (seed < 0 || seed > kLargestSeed) {
      throw ConfigError(fmt::format("--seed: {} is out of range; legal: 0 to {}", seed, kLargestSeed));
    }
    experiment_.seed = static_cast<std::uint64_t>(seed);
    experiment_.overridden = reader_.flag("overridden").value_or(false) || overrides_.machine.has_value();
  }

  void read_report(const toml::table* report) {
    if (!report) return;
    TableReader reader(*report, tables_->file, "report");
    experiment_.sorted_by = reader.text("sorted_by").value_or("");
    experiment_.report_lines = static_cast<int>(reader.integer("lines", 0, kMostReportedLines).value_or(0));
    reader.finish();
  }

  void read_machine(const toml::node* machine) {
    const Origin here = reader_.origin_of("machine");
    if (overrides_.machine) {
      tables_->machine = read_machine_file(*overrides_.machine, "", "--machine");
    } else if (!machine) {
      reader_.refuse("machine", "this key is missing: machine = \"NAME\", or [machine] tables");
    } else if (const auto* text = machine->as_string()) {
      tables_->machine =
          read_machine_file(text->get(), file_of(tables_->file, *machine).parent_path(), here.place + ": machine");
    } else if (const auto* table = machine->as_table()) {
      tables_->machine = read_machine_tables(*table, file_of(tables_->file, *table), Origin{tables_->file});
    } else {
      fail(here, "machine", fmt::format("expected a machine's name or [machine] tables, found {}", describe_node(*machine)));
    }
  }

  void collect_keys() {
    tables_->keys.add(tables_->machine.keys.keys());
    tables_->keys.add(schema_keys({}));
    if (layout_) tables_->keys.add(layout_changes_key());
    collect_placement_keys();
    collect_workload_keys();
  }

  // Every object that anything places is a key: the workload alone knows which there are.
  void collect_placement_keys() {
    std::vector<Leaf> leaves_with_objects;
    if (placement_) append(leaves_with_objects, leaves(*placement_, "placement", tables_->file, {}));
    if (set_) append(leaves_with_objects, leaves(*set_, "", tables_->file, {}));
    if (sweep_) append(leaves_with_objects, swept_lists(*sweep_, tables_->file));
    for (const auto& leaf : leaves_with_objects) add_object(leaf.path);
    for (const auto& [path, text] : overrides_.sets) add_object(path);
  }

  void add_object(const std::string& path) {
    if (path.starts_with(kPlacementPrefix) && path.size() > kPlacementPrefix.size()) tables_->keys.add(placement_key(path));
  }

  // The workloads that the experiment can come to run decide which workload.* keys are legal.
  void collect_workload_keys() {
    KeySpace& keys = tables_->keys;
    keys.add(workload_name_key(tables_->catalogue));
    std::vector<Leaf> names = leaves(*workload_, "workload", tables_->file, {});
    if (set_) append(names, leaves(*set_, "", tables_->file, {}));
    if (sweep_) append(names, swept_workload_names(*sweep_, tables_->file));
    bool named = false;
    for (const auto& leaf : names) {
      if (leaf.path != "workload.name") continue;
      add_workload(checked(keys.require(leaf.path, leaf.origin), leaf));
      named = true;
    }
    if (!named) fail(reader_.origin_of("workload"), "workload.name", "this key is missing and has no default");
    for (const auto& [path, text] : overrides_.sets) {
      if (path == "workload.name") add_workload(command_line_value(keys.require(path, {}), text, Origin{"--set"}));
    }
  }

  static void append(std::vector<Leaf>& to, std::vector<Leaf> from) {
    for (auto& leaf : from) to.push_back(std::move(leaf));
  }

  // With what the user names in an open table of its: workload.locks.NAME.
  void add_workload(const ConfigValue& value) {
    const auto& name = std::get<std::string>(value);
    tables_->keys.add(workload_keys(tables_->catalogue, name));
    std::vector<Leaf> given = leaves(*workload_, "workload", tables_->file, {});
    if (set_) append(given, leaves(*set_, "", tables_->file, {}));
    if (sweep_) append(given, swept_lists(*sweep_, tables_->file));
    for (const auto& leaf : given) add_open_key(tables_->keys, tables_->catalogue, name, leaf.path);
    for (const auto& [path, text] : overrides_.sets) add_open_key(tables_->keys, tables_->catalogue, name, path);
  }

  void read_layers() {
    Settings& settings = tables_->settings;
    settings = tables_->machine.settings;
    if (placement_) read_settings(leaves(*placement_, "placement", tables_->file, {}), tables_->keys, settings);
    read_settings(leaves(*workload_, "workload", tables_->file, {}), tables_->keys, settings);
    for (const std::string key : {kLayoutKey, kTraceKey}) {
      const auto* file = workload_->get(std::string_view(key).substr(std::string_view("workload.").size()));
      if (file != nullptr) settings.at(key).value = anchored(tables_->keys.require(key, {}), {"", file, {}});
    }
    if (run_) read_settings(leaves(*run_, "run", tables_->file, {}), tables_->keys, settings);
    if (engine_) read_settings(leaves(*engine_, "engine", tables_->file, {}), tables_->keys, settings);
    const Origin origin{tables_->file};
    fill_defaults(settings, tables_->machine.parts, "run.", origin);
    fill_defaults(settings, tables_->machine.parts, "engine.", origin);
    if (layout_) read_layout();
    if (set_) read_set();
  }

  void read_layout() {
    TableReader reader(*layout_, tables_->file, "layout");
    if (const auto* changes = reader.array("change")) tables_->layout_changes = read_layout_changes(*changes, tables_->file);
    const auto choice = reader.text("changes");
    reader.finish();
    if (tables_->layout_changes.empty() && !choice) return;
    tables_->settings.insert_or_assign(kLayoutChanges, Setting{choice.value_or("all"), reader.origin_of("changes")});
  }

  void read_set() {
    for (auto& leaf : leaves(*set_, "", tables_->file, {})) {
      if (leaf.node->is_table() && (tables_->keys.is_table(leaf.path))) continue;
      const KeyInfo& key = tables_->keys.require_settable(leaf.path, leaf.origin);
      leaf.origin.given = "set by the experiment";
      tables_->settings.insert_or_assign(key.path, Setting{anchored(key, leaf), leaf.origin});
    }
  }

  // A path is taken from the file that it stands in, which may be one that this experiment extends.
  [[nodiscard]] ConfigValue anchored(const KeyInfo& key, const Leaf& leaf) const {
    return anchor_path(key.path, checked(key, leaf), file_of(tables_->file, *leaf.node).parent_path());
  }

  // Where the machine is swept, the experiment is read once more for each of them: other machines have other keys, and what
  // the file sets must fit all of them.
  void read_swept_machines() {
    for (const SweepAxis& axis : experiment_.sweep) {
      for (std::size_t i = 0; i < axis.paths.size(); ++i) {
        if (axis.paths[i] != kMachineAxis) continue;
        for (const auto& value : axis.values[i]) read_on_machine(std::get<std::string>(value));
      }
    }
  }

  void read_on_machine(const std::string& name) {
    if (tables_->machines.contains(name)) return;
    find_file(kMachineFiles, name, "", tables_->swept.at(std::string(kMachineAxis)).place + ": machine");
    toml::table table = read_experiment_table(tables_->file);  // a copy would forget the lines
    remove_machine_axis(*table["sweep"].as_table());
    table.erase("paper");
    table.erase("table");
    Overrides overrides = overrides_;
    overrides.machine = name;
    const Experiment alone = ExperimentReader(tables_->file, table, overrides, tables_->catalogue).read();
    const std::string cpus = "machine.cpus_present";
    if (sweeps_all_cpus() && alone.tables->settings.at(cpus).value != tables_->settings.at(cpus).value) {
      fail(tables_->swept.at("machine.cpus"), "machine.cpus",
           "\"1..N\" is not the same for all of the swept machines; give a list");
    }
    tables_->machines.emplace(name, alone.tables);
  }

  [[nodiscard]] bool sweeps_all_cpus() const {
    const auto* list = sweep_->get("machine.cpus");
    return list && list->is_string();
  }

  void set_from_command_line(const std::string& path, const std::string& text) {
    const Origin origin{"--set", "", std::string(kCommandLine)};
    if (path == kLayoutChanges && !layout_) fail(origin, path, "the experiment has no [[layout.change]] to choose from");
    const KeyInfo& key = tables_->keys.require_settable(path, origin);
    const ConfigValue value = command_line_value(key, text, origin);
    if (!path.starts_with("run.") && !path.starts_with("engine.")) experiment_.overridden = true;
    if (const auto swept = tables_->swept.find(path); swept != tables_->swept.end()) {
      pin(experiment_.sweep, path, value);
      swept->second = origin;
    } else {
      tables_->settings.insert_or_assign(path, Setting{value, origin});
    }
  }

  void finish(const toml::array* paper) {
    Settings base = tables_->settings;
    // A swept workload brings its own defaults at each of its points.
    if (!tables_->swept.contains("workload.name")) fill_workload_defaults(base, tables_->catalogue, Origin{tables_->file});
    experiment_.machine_name = std::get<std::string>(base.at("machine.name").value);
    experiment_.seeds = static_cast<int>(std::get<std::int64_t>(base.at("run.seeds").value));
    if (paper) experiment_.paper = read_paper_rows(*paper, *tables_);
    if (measured_) experiment_.measured = read_measured_tables(*measured_, *tables_);
    resolve(base);
    experiment_.tables = tables_;
    const auto points = outline(experiment_);
    const bool as_written = overrides_.sets.empty() && !experiment_.overridden;
    if (paper && as_written) check_selections(experiment_.paper, *paper, points, tables_->file);
    if (measured_ && as_written) check_selections(experiment_.measured, *measured_, points, tables_->file);
    add_rows_of_tables();
  }

  void add_rows_of_tables() {
    for (PaperRow& row : paper_rows_of(experiment_.measured)) {
      const bool used = std::any_of(experiment_.paper.begin(), experiment_.paper.end(),
                                    [&row](const PaperRow& other) { return other.id == row.id; });
      if (used) {
        fail(Origin{tables_->file}, "paper.id",
             fmt::format("\"{}\" is a row of table {}, too: ids are unique", row.id, row.table));
      }
      experiment_.paper.push_back(std::move(row));
    }
  }

  void resolve(const Settings& base) {
    toml::table& resolved = experiment_.resolved;
    resolved = resolved_settings(base, tables_->machine);
    resolved.insert("name", experiment_.name);
    resolved.insert("title", experiment_.title);
    resolved.insert("seed", static_cast<std::int64_t>(experiment_.seed));
    if (experiment_.overridden) resolved.insert("overridden", true);
    add_layout_changes(resolved, tables_->layout_changes);
    if (!experiment_.sweep.empty()) resolved.insert("sweep", sweep_table(experiment_.sweep));
    if (!experiment_.paper.empty()) resolved.insert("paper", paper_table(experiment_.paper));
    if (!experiment_.measured.empty()) resolved.insert("table", measured_tables_array(experiment_.measured));
    toml::table report;
    if (!experiment_.sorted_by.empty()) report.insert("sorted_by", experiment_.sorted_by);
    if (experiment_.report_lines > 0) report.insert("lines", experiment_.report_lines);
    if (!report.empty()) resolved.insert("report", std::move(report));
  }

  TableReader reader_;
  const Overrides& overrides_;
  std::shared_ptr<ExperimentTables> tables_;
  Experiment experiment_;
  const toml::table* placement_ = nullptr;
  const toml::table* workload_ = nullptr;
  const toml::table* run_ = nullptr;
  const toml::table* engine_ = nullptr;
  const toml::table* set_ = nullptr;
  const toml::table* sweep_ = nullptr;
  const toml::array* measured_ = nullptr;
  const toml::table* layout_ = nullptr;
};

// Expanding checks every point as a whole, before the first one runs.
Experiment whole(Experiment experiment) {
  expand(experiment);
  return experiment;
}

}  // namespace

Experiment load_unexpanded(const std::string& name_or_path, const Overrides& overrides) {
  return load_unexpanded(name_or_path, overrides, Catalogue{all_workloads()});
}

Experiment load_experiment(const std::string& name_or_path, const Overrides& overrides) {
  return load_experiment(name_or_path, overrides, Catalogue{all_workloads()});
}

Experiment read_experiment(const std::string& text, const std::string& as, const Overrides& overrides) {
  const auto table = parse_toml(text, as);
  return whole(ExperimentReader(as, table, overrides, Catalogue{all_workloads()}).read());
}

Experiment load_unexpanded(const std::string& name_or_path, const Overrides& overrides, const Catalogue& catalogue) {
  const auto file = find_file(kExperimentFiles, name_or_path, "", "");
  const auto table = read_experiment_table(file);
  return ExperimentReader(file, table, overrides, catalogue).read();
}

Experiment load_experiment(const std::string& name_or_path, const Overrides& overrides, const Catalogue& catalogue) {
  return whole(load_unexpanded(name_or_path, overrides, catalogue));
}

}  // namespace linebounce::sim
