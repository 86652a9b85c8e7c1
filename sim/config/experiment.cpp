#include "sim/config/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/config/contention.hpp"
#include "sim/config/experiment_tables.hpp"
#include "sim/config/load_experiment.hpp"
#include "sim/config/lua_files.hpp"
#include "sim/config/measured_tables.hpp"
#include "sim/config/paper_rows.hpp"
#include "sim/config/placement.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/recorded_run.hpp"
#include "sim/config/sweep.hpp"
#include "sim/config/table_reader.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kCommandLine = "set on the command line";
constexpr std::array kFamilies = {"latency", "lock", "counter", "layout", "allocator", "hash_table", "kernel"};
constexpr int kMostReportedLines = 1000;
constexpr const char* kProgramWorkload = "program";  // the default of workload.name if workload.program is set

// Parses the VALUE of --set PATH=VALUE as TOML; if that fails, as a bare word.
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

class ExperimentReader {
 public:
  // `table`: the parsed and merged `text`. `text` itself is parsed again for each machine if machines are swept.
  ExperimentReader(const std::filesystem::path& file, const std::string& text, const toml::table& table,
                   const Overrides& overrides, const Catalogue& catalogue)
      : text_(text), reader_(table, file.string(), ""), overrides_(overrides), tables_(std::make_shared<ExperimentTables>()) {
    tables_->file = file.string();
    tables_->catalogue = catalogue;
    tables_->options = overrides.options;
  }

  // Of an unknown key, the reader would say that experiments don't have it.
  void refuse_machine_file() {
    const auto has = [this](const char* key) { return reader_.node(key) != nullptr; };
    if (has("workload") || !(has("cpu") || has("cache") || has("bus") || has("contention"))) return;
    throw ConfigError(fmt::format(
        "{0}: this is a machine's file; expected an experiment's: linebounce run EXPERIMENT --machine {0}", tables_->file));
  }

  Experiment read() {
    identity();
    const auto* machine = reader_.node("machine");
    for (const std::string name : {"placement", "workload", "run", "engine"}) {
      if (const auto* table = reader_.table(name)) append(layers_, leaves(*table, name, tables_->file, {}));
    }
    if (const auto* set = reader_.table("set")) set_ = leaves(*set, "", tables_->file, {});
    sweep_ = reader_.table("sweep");
    layout_ = reader_.table("layout");
    const auto* paper = reader_.array("paper");
    measured_ = reader_.array("table");
    read_report(reader_.table("report"));
    read_question(reader_.table("question"));
    refuse_machine_file();
    reader_.finish();
    if (!reader_.table("workload"))
      reader_.refuse("workload",
                     "this table is missing; write [workload] and name = \"NAME\" below it (see: linebounce list workloads)");
    read_machine(machine);
    declare_keys();
    read_layers();
    if (sweep_ && sweeps_machine(*sweep_)) tables_->keys.add(machine_axis_key());
    if (sweep_) experiment_.sweep = read_sweep(*sweep_, *tables_);
    check_question();
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
      reader_.refuse("name", fmt::format("\"{}\" {}", experiment_.name, kNoDirectoryName));
    }
    experiment_.title = reader_.text("title").value_or("");
    experiment_.family = reader_.text("family", {kFamilies.begin(), kFamilies.end()}).value_or("");
    const auto own_seed = reader_.integer("seed", 0, static_cast<double>(kLargestSeed)).value_or(kDefaultSeed);
    const std::int64_t seed = overrides_.seed.value_or(own_seed);
    if (seed < 0 || seed > kLargestSeed) {
      throw ConfigError(fmt::format("--seed: {} is out of range; legal: 0 to {}", seed, kLargestSeed));
    }
    experiment_.seed = static_cast<std::uint64_t>(seed);
    experiment_.native = overrides_.native;
    experiment_.overridden = reader_.flag("overridden").value_or(false) || overrides_.machine.has_value();
  }

  void read_report(const toml::table* report) {
    if (!report) return;
    TableReader reader(*report, tables_->file, "report");
    experiment_.sorted_by = reader.text("sorted_by").value_or("");
    experiment_.report_lines = static_cast<int>(reader.integer("lines", 0, kMostReportedLines).value_or(0));
    reader.finish();
  }

  void read_question(const toml::table* question) {
    if (!question) {
      experiment_.question.compare = overrides_.compare;
      return;
    }
    TableReader reader(*question, tables_->file, "question");
    experiment_.question = {reader.text("text").value_or(""), reader.text("metric").value_or(""),
                            reader.text("compare").value_or("")};
    reader.finish();
    if (!overrides_.compare.empty()) experiment_.question.compare = overrides_.compare;
    question_ = question;
  }

  // Checks that the experiment sweeps the path that [question] compares. An experiment that extends another and sweeps other
  // paths does not inherit its question. REQUIRES: the sweep has been read.
  void check_question() {
    const std::string& compare = experiment_.question.compare;
    if (compare.empty() || compare == overrides_.compare || tables_->swept.contains(compare)) return;
    if (file_of(tables_->file, *question_) != tables_->file) {
      experiment_.question = {};
      return;
    }
    std::string swept;
    for (const auto& [path, origin] : tables_->swept) swept += (swept.empty() ? "" : ", ") + path;
    TableReader(*question_, tables_->file, "question")
        .refuse("compare", fmt::format("\"{}\" is not swept, so that there is nothing to compare; swept: {}", compare,
                                       swept.empty() ? "nothing" : swept));
  }

  void read_machine(const toml::node* machine) {
    const Origin here = reader_.origin_of("machine");
    if (overrides_.machine) {
      const auto option = overrides_.options.find(std::string(kMachineAxis));
      tables_->machine =
          read_machine_file(*overrides_.machine, "", option == overrides_.options.end() ? "--machine" : option->second);
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

  // Declares the legal keys in stages, because earlier settings decide which later keys are legal. First come the machine's
  // keys. Next come placements, for any object name, because only the running workload knows its objects. Last come the keys
  // of every workload that the experiment may run, including entries that the user adds to open tables (workload.locks.NAME).
  void declare_keys() {
    KeySpace& keys = tables_->keys;
    keys.add(tables_->machine.keys.keys());
    keys.add(schema_keys({}, {"run.", "engine."}));
    if (layout_) keys.add(layout_changes_key());
    const std::vector<std::string> given = given_paths();
    for (const std::string& path : given) {
      if (path.starts_with(kPlacementPrefix) && path.size() > kPlacementPrefix.size()) keys.add(placement_key(path));
    }
    keys.add(workload_name_key(tables_->catalogue));
    declare_programs();
    for (const std::string& workload : given_workloads()) {
      keys.add(workload_keys(tables_->catalogue, workload));
      for (const std::string& path : given) add_open_key(keys, tables_->catalogue, workload, path);
    }
  }

  // All paths that the file or the command line sets or sweeps.
  [[nodiscard]] std::vector<std::string> given_paths() const {
    std::vector<Leaf> given = layers_;
    append(given, set_);
    if (sweep_) append(given, swept_lists(*sweep_, tables_->file));
    std::vector<std::string> paths;
    for (const Leaf& leaf : given) paths.push_back(leaf.path);
    for (const auto& override : overrides_.sets) paths.push_back(override.first);
    return paths;
  }

  [[nodiscard]] std::vector<std::string> given_workloads() const {
    const KeyInfo& key = tables_->keys.require("workload.name", {});
    std::vector<std::string> names;
    for (const GivenText& given : given_texts(key)) names.push_back(given.text);
    if (names.empty() && !tables_->catalogue.programs.empty()) names.emplace_back(kProgramWorkload);
    if (names.empty()) fail(reader_.origin_of("workload"), key.path, "this key is missing and has no default");
    return names;
  }

  // Makes keys of the parameters that program files declare. Errors: ConfigError for a program that is not a Lua file.
  void declare_programs() {
    const KeyInfo key{kProgramKey, ValueType::text, "", ""};
    for (const GivenText& given : given_texts(key)) {
      if (!is_lua_path(given.text))
        fail(given.origin, key.path, fmt::format("\"{}\" is not a program: expected a file, NAME.lua", given.text));
      tables_->catalogue.programs.emplace(given.text, load_lua_file(given.text, given.origin, key.path).declared);
    }
  }

  struct GivenText {
    std::string text;
    Origin origin;
  };
  // All values that the file and the command line give to a key.
  [[nodiscard]] std::vector<GivenText> given_texts(const KeyInfo& key) const {
    std::vector<Leaf> given = layers_;
    append(given, set_);
    if (sweep_) append(given, swept_values(*sweep_, tables_->file, key.path));
    std::vector<GivenText> texts;
    for (const Leaf& leaf : given) {
      if (leaf.path == key.path) texts.push_back({std::get<std::string>(anchored(key, leaf)), leaf.origin});
    }
    const Origin origin = typed_origin(overrides_.options, key.path);
    for (const auto& [path, text] : overrides_.sets) {
      if (path == key.path) texts.push_back({std::get<std::string>(command_line_value(key, text, origin)), origin});
    }
    return texts;
  }

  template <class T>
  static void append(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  void read_layers() {
    Settings& settings = tables_->settings;
    settings = tables_->machine.settings;
    read_settings(layers_, tables_->keys, settings);
    for (const Leaf& leaf : layers_) {
      if (leaf.path.starts_with("workload.") && leaf.node->is_string())
        settings.at(leaf.path).value = anchored(tables_->keys.require(leaf.path, {}), leaf);
    }
    const Origin origin{tables_->file};
    if (!tables_->catalogue.programs.empty()) settings.emplace("workload.name", Setting{kProgramWorkload, origin});
    fill_defaults(settings, tables_->machine.parts, "run.", origin);
    fill_defaults(settings, tables_->machine.parts, "engine.", origin);
    if (layout_) read_layout();
    read_set();
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
    for (Leaf& leaf : set_) {
      if (leaf.node->is_table() && (tables_->keys.is_table(leaf.path))) continue;
      const KeyInfo& key = tables_->keys.require_settable(leaf.path, leaf.origin);
      leaf.origin.given = "set by the experiment";
      tables_->settings.insert_or_assign(key.path, Setting{anchored(key, leaf), leaf.origin});
    }
  }

  // Makes a path relative to the file that contains the setting. That file may be one that this experiment extends.
  [[nodiscard]] ConfigValue anchored(const KeyInfo& key, const Leaf& leaf) const {
    return anchor_path(key.path, checked(key, leaf), file_of(tables_->file, *leaf.node).parent_path());
  }

  // If the machine is swept, reads the experiment again for each machine. Machines have different keys, and the file's
  // settings must be legal on all of them.
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
    // Parsed again, because a copied table loses its line numbers.
    toml::table table = read_experiment_table(text_, tables_->file);
    sweep_lists(table, overrides_.lists);
    remove_swept(*table["sweep"].as_table(), kMachineAxis);
    table.erase("paper");
    table.erase("table");
    Overrides overrides = overrides_;
    overrides.machine = name;
    const Experiment alone = ExperimentReader(tables_->file, text_, table, overrides, tables_->catalogue).read();
    const std::string cpus = "machine.cpus_present";
    if (sweeps_all_cpus() && alone.tables->settings.at(cpus).value != tables_->settings.at(cpus).value) {
      fail(tables_->swept.at("machine.cpus"), "machine.cpus",
           "\"1..N\" is not the same for all of the swept machines; give a list");
    }
    tables_->machines.emplace(name, alone.tables);
    append(experiment_.assumptions, alone.assumptions);
  }

  [[nodiscard]] bool sweeps_all_cpus() const {
    const auto* list = sweep_->get("machine.cpus");
    return list && list->is_string();
  }

  void set_from_command_line(const std::string& path, const std::string& text) {
    Origin origin = typed_origin(overrides_.options, path);
    origin.given = kCommandLine;
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
    // If the workload or program is swept, each point fills in the defaults of its own workload later.
    if (!tables_->swept.contains("workload.name") && !tables_->swept.contains(kProgramKey))
      fill_workload_defaults(base, tables_->catalogue, Origin{tables_->file});
    experiment_.machine_name = std::get<std::string>(base.at("machine.name").value);
    apply_line_size(base, tables_->machine.parts);
    apply_contention(base, tables_->machine.keys, tables_->machine.family);
    if (tables_->machines.empty()) experiment_.assumptions = assumptions(base);
    experiment_.seeds = static_cast<int>(std::get<std::int64_t>(base.at("run.seeds").value));
    if (paper) experiment_.paper = read_paper_rows(*paper, *tables_);
    if (measured_) experiment_.measured = read_measured_tables(*measured_, *tables_);
    resolve(base);
    experiment_.tables = tables_;
    const auto points = outline(experiment_);
    const bool as_written = overrides_.sets.empty() && overrides_.lists.empty() && !experiment_.overridden;
    if (paper && as_written) check_selections(experiment_.paper, *paper, points, tables_->file);
    if (measured_ && as_written) check_selections(experiment_.measured, *measured_, points, tables_->file);
    add_rows_of_tables();
  }

  // Collects the assumptions about the machine. Swept parameters count as stated, so there are none about them.
  [[nodiscard]] std::vector<std::string> assumptions(Settings base) const {
    for (const SweepAxis& axis : experiment_.sweep) {
      for (std::size_t i = 0; i < axis.paths.size(); ++i) {
        const auto setting = base.find(axis.paths[i]);
        if (setting == base.end()) continue;
        setting->second = Setting{axis.values[i].front(), tables_->swept.at(axis.paths[i])};
        setting->second.origin.given = "swept";
      }
    }
    return assumptions_of(base, tables_->machine.sources);
  }

  void add_rows_of_tables() {
    for (PaperRow& row : paper_rows_of(experiment_.measured)) {
      const bool used = std::ranges::any_of(experiment_.paper, [&row](const PaperRow& other) { return other.id == row.id; });
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
    if (!experiment_.family.empty()) resolved.insert("family", experiment_.family);
    if (experiment_.overridden) resolved.insert("overridden", true);
    add_layout_changes(resolved, tables_->layout_changes);
    if (!experiment_.sweep.empty()) resolved.insert("sweep", sweep_table(experiment_.sweep));
    if (!experiment_.paper.empty()) resolved.insert("paper", paper_table(experiment_.paper));
    if (!experiment_.measured.empty()) resolved.insert("table", measured_tables_array(experiment_.measured));
    toml::table report;
    if (!experiment_.sorted_by.empty()) report.insert("sorted_by", experiment_.sorted_by);
    if (experiment_.report_lines > 0) report.insert("lines", experiment_.report_lines);
    if (!report.empty()) resolved.insert("report", std::move(report));
    const Question& question = experiment_.question;
    toml::table asked;
    if (!question.text.empty()) asked.insert("text", question.text);
    if (!question.metric.empty()) asked.insert("metric", question.metric);
    if (!question.compare.empty()) asked.insert("compare", question.compare);
    if (!asked.empty()) resolved.insert("question", std::move(asked));
  }

  const std::string& text_;
  TableReader reader_;
  const Overrides& overrides_;
  std::shared_ptr<ExperimentTables> tables_;
  Experiment experiment_;
  std::vector<Leaf> layers_;  // settings of [placement], [workload], [run] and [engine]
  std::vector<Leaf> set_;     // settings of [set]
  const toml::table* sweep_ = nullptr;
  const toml::array* measured_ = nullptr;
  const toml::table* layout_ = nullptr;
  const toml::table* question_ = nullptr;
};

Experiment read_from(const std::string& text, const std::filesystem::path& file, const Overrides& overrides,
                     const Catalogue& catalogue) {
  auto table = read_experiment_table(text, file);
  sweep_lists(table, overrides.lists);
  return ExperimentReader(file, text, table, overrides, catalogue).read();
}

// Checks each point as a whole before the first one runs.
Experiment whole(Experiment experiment) {
  const PointMaker make = point_maker(experiment);
  const auto count = static_cast<int>(point_count(experiment));
  for (int number = 0; number < count; ++number) make(number);
  return experiment;
}

}  // namespace

Experiment load_unexpanded(const std::string& name_or_path, const Overrides& overrides) {
  return load_unexpanded(name_or_path, overrides, Catalogue{all_workloads()});
}

Experiment load_experiment(const std::string& name_or_path, const Overrides& overrides) {
  return load_experiment(name_or_path, overrides, Catalogue{all_workloads()});
}

Experiment read_unexpanded(const std::string& text, const std::string& as, const Overrides& overrides) {
  return read_from(text, as, overrides, Catalogue{all_workloads()});
}

Experiment load_unexpanded(const std::string& name_or_path, const Overrides& overrides, const Catalogue& catalogue) {
  const auto file = find_file(kExperimentFiles, name_or_path, "", "");
  return read_from(read_text(file), file, overrides, catalogue);
}

Experiment load_experiment(const std::string& name_or_path, const Overrides& overrides, const Catalogue& catalogue) {
  return whole(load_unexpanded(name_or_path, overrides, catalogue));
}

}  // namespace linebounce::sim
