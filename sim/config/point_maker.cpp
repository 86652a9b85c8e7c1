// Makes the points of an experiment from its settings and its sweep.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "models/coherence/controller_entry.hpp"
#include "models/text/visible.hpp"
#include "sim/config/contention.hpp"
#include "sim/config/experiment.hpp"
#include "sim/config/experiment_tables.hpp"
#include "sim/config/layout_changes.hpp"
#include "sim/config/lua_files.hpp"
#include "sim/config/measured_tables.hpp"
#include "sim/config/placement.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/config/recorded_run.hpp"
#include "sim/config/sweep.hpp"
#include "sim/native/lock_compiler.hpp"
#include "trace/reader.hpp"
#include "workloads/replay/recorded_pace.hpp"

namespace linebounce::sim {
namespace {

// Converts a point's number into an index per axis. The last axis varies fastest.
std::vector<std::size_t> choice_of(const std::vector<SweepAxis>& sweep, int number) {
  std::size_t rest = number;
  std::vector<std::size_t> choice(sweep.size());
  for (std::size_t axis = sweep.size(); axis-- > 0;) {
    const std::size_t values = sweep[axis].values[0].size();
    choice[axis] = rest % values;
    rest /= values;
  }
  return choice;
}

PointPlace point_place(const std::vector<SweepAxis>& sweep, int number) {
  PointPlace place;
  place.number = number;
  const std::vector<std::size_t> choice = choice_of(sweep, number);
  for (std::size_t axis = 0; axis < choice.size(); ++axis) {
    const SweepAxis& swept = sweep[axis];
    for (std::size_t i = 0; i < swept.paths.size(); ++i) place.at.emplace_back(swept.paths[i], swept.values[i][choice[axis]]);
  }
  return place;
}

class PointBuilder {
 public:
  explicit PointBuilder(Experiment experiment)
      : experiment_(std::move(experiment)), tables_(*experiment_.tables), family_(tables_.machine.family) {}

  Point build(int number) {
    Point point{point_place(experiment_.sweep, number), {}, {}};
    const ExperimentTables& base = on_machine_of(point);
    Settings settings = base.settings;
    for (const auto& [path, value] : point.at) {
      if (path != kMachineAxis) settings.insert_or_assign(path, Setting{value, tables_.swept.at(path)});
    }
    apply_line_size(settings, base.machine.parts);
    apply_contention(settings, base.machine.keys, family_);
    fill_workload_defaults(settings, tables_.catalogue, Origin{tables_.file});
    fill_input(settings, base.machine, point.input);
    point.resolved = resolved_settings(settings, base.machine);
    point.resolved.insert("name", experiment_.name);
    point.resolved.insert("title", experiment_.title);
    point.resolved.insert("seed", static_cast<std::int64_t>(experiment_.seed));
    if (!experiment_.measured.empty()) {
      toml::array tables = measured_tables_array(experiment_.measured);
      erase_scoring(tables);  // [[paper]] rows belong to the whole experiment
      point.resolved.insert("table", std::move(tables));
    }
    add_layout_changes(point.resolved, tables_.layout_changes);
    point.input.located = [all = std::make_shared<const Settings>(std::move(settings))](const std::string& path) {
      const auto setting = all->find(path);
      return setting == all->end() ? path : located(setting->second.origin, path);
    };
    if (!point.input.trace.empty()) {
      point.input.as_recorded = is_as_recorded(point);
      const TraceFacts& facts = trace_facts(point.input.trace);
      point.assumption = facts.assumption;
      const std::optional<trace::Summary> summary = facts.summary();
      if (summary && trace::has_recorded_instructions(*summary)) point.input.machine = overlapping_hits(point.input.machine);
    }
    return point;
  }

 private:
  // What is known about a trace file. Detecting damage requires unpacking the whole file, so this is done only if needed.
  struct TraceFacts {
    std::optional<trace::Summary> claimed;  // the summary from the index; none if only a recovering reader can read the file
    struct Unpacked {
      bool damaged;
      trace::Summary summary;
    };
    std::optional<Unpacked> unpacked;

    [[nodiscard]] std::optional<trace::Summary> summary() const {
      return unpacked ? std::optional(unpacked->summary) : claimed;
    }
    std::string assumption;  // as worded by assumption_about()
  };

  TraceFacts& trace_facts(const std::string& file) {
    const auto [facts, added] = traces_.try_emplace(file);
    if (added) {
      try {
        const trace::Reader reader(file);
        facts->second.claimed = reader.summary();
        facts->second.assumption = assumption_about(reader);
      } catch (const trace::TraceError&) {
        // The trace is damaged; is_as_recorded() will use a recovering reader.
      }
    }
    return facts->second;
  }

  bool is_as_recorded(const Point& point) {
    TraceFacts& facts = trace_facts(point.input.trace);
    if (facts.claimed && !replays_as_recorded(point.resolved, *facts.claimed)) return false;
    if (!facts.unpacked) {
      const trace::Reader reader(point.input.trace, {.recover = true});
      facts.unpacked = {!reader.damage().empty(), reader.summary()};
      facts.assumption = assumption_about(reader);
    }
    return !facts.unpacked->damaged && replays_as_recorded(point.resolved, facts.unpacked->summary);
  }

  // Returns the experiment's tables for the point's machine, if machines are swept; otherwise the only tables.
  [[nodiscard]] const ExperimentTables& on_machine_of(const PointPlace& point) const {
    const auto swept = std::ranges::find_if(point.at, [](const auto& entry) { return entry.first == kMachineAxis; });
    return swept == point.at.end() ? tables_ : *tables_.machines.at(std::get<std::string>(swept->second));
  }

  void fill_input(const Settings& settings, const MachineTables& machine, SimulationInput& input) {
    TypedConfiguration typed = to_typed(settings, machine.parts);
    check_machine(typed.machine, settings);
    input.machine = std::move(typed.machine);
    input.placement = to_placement(settings, input.machine);
    input.protocols = protocols(settings, input.machine);
    input.workload = std::get<std::string>(settings.at("workload.name").value);
    input.parameters = to_parameters(settings, tables_.catalogue);
    if (const auto named = settings.find(kTraceKey); named != settings.end())
      input.trace = std::get<std::string>(named->second.value);
    add_lua_files(settings, input);
    input.layouts = layouts(settings, input.machine.bus.line_bytes);
    input.run = typed.run;
    input.engine = typed.engine;
    input.tables = experiment_.measured;
    input.seed = experiment_.seed;
  }

  void add_lua_files(const Settings& settings, SimulationInput& input) {
    if (const auto program = settings.find(kProgramKey); program != settings.end())
      input.program = lua_file(program->second, program->first).source;
    for (const auto& [path, setting] : settings) {
      const ParameterDeclaration* parameter = parameter_at(settings, tables_.catalogue, path);
      if (parameter != nullptr && parameter->why_no_lock) {
        add_file(path, setting, input.lock_files, [parameter](const LuaDeclaration& file) {
          return file.lock ? parameter->why_no_lock(*file.lock)
                           : "it is not a lock: it defines no functions acquire and release";
        });
      }
      if (parameter != nullptr && parameter->why_no_counter) {
        add_file(path, setting, input.counter_files, [parameter](const LuaDeclaration& file) {
          const bool counts = file.counter.events || file.counter.references;
          return counts ? parameter->why_no_counter(file.counter)
                        : "it is not a counter: it defines neither add and read nor get and put";
        });
      }
    }
  }

  // Adds a lock's or counter's file to `files`, if the setting names a file. `why_not`: returns why this lock or counter is
  // illegal here; empty if it is legal.
  template <class WhyNot>
  void add_file(const std::string& path, const Setting& setting, std::vector<SourceFile>& files, WhyNot why_not) {
    if (!is_source_path(std::get<std::string>(setting.value))) return;
    const LuaFile& file = lua_file(setting, path);
    const std::string& name = file.source.path;
    if (const std::string reason = why_not(file.declared); !reason.empty())
      fail(setting.origin, path, fmt::format("{} can't be used here: {}", name, reason));
    const bool known = std::ranges::any_of(files, [&name](const SourceFile& other) { return other.path == name; });
    if (!known) files.push_back(file.source);
  }

  // Refuses a lock in C, which can do anything on the host, unless the user permits it with --native or names it with --set.
  void refuse_unnamed_code(const std::string& name, const Setting& setting, const std::string& path) const {
    if (!is_native_path(name) || experiment_.native || setting.origin.is_typed) return;
    fail(
        setting.origin, path,
        fmt::format("{} is native code, which can do all that you can; to run it: --native (SECURITY.md)", visible_name(name)));
  }

  // Returns the file's declarations. Reads each file only once.
  const LuaFile& lua_file(const Setting& setting, const std::string& path) {
    const auto& name = std::get<std::string>(setting.value);
    refuse_unnamed_code(name, setting, path);
    const auto known = lua_files_.find(name);
    return known != lua_files_.end() ? known->second
                                     : lua_files_.emplace(name, load_lua_file(name, setting.origin, path)).first->second;
  }

  LayoutSet layouts(const Settings& settings, int line_bytes) {
    const auto& all = tables_.layout_changes;
    std::vector<LayoutChange> chosen;
    if (const auto choice = settings.find(kLayoutChanges); choice != settings.end())
      chosen = chosen_changes(all, choice->second);
    if (const auto replayed = settings.find(kTraceKey); replayed != settings.end()) {
      if (all.empty()) return {};
      return changed_layouts(trace_layouts(std::get<std::string>(replayed->second.value), line_bytes), chosen, line_bytes);
    }
    const auto named = settings.find(kLayoutKey);
    if (named != settings.end()) return changed_layouts(layout_file(named->second, line_bytes), chosen, line_bytes);
    if (all.empty()) return {};
    fail(all.front().origin, "layout.change",
         fmt::format("workload {} has no parameter `layout`: its structures are in no file that could be changed",
                     std::get<std::string>(settings.at("workload.name").value)));
  }

  // Reads each file only once. Also applies every change by itself, so that an illegal change is reported even if this point
  // does not select it.
  const LayoutFile& layout_file(const Setting& setting, int line_bytes) {
    const auto& name = std::get<std::string>(setting.value);
    if (const auto known = layout_files_.find(name); known != layout_files_.end()) return known->second;
    const LayoutFile& file = layout_files_.emplace(name, load_layout_file(name, setting.origin.place)).first->second;
    for (const LayoutChange& change : tables_.layout_changes) changed_layouts(file, {change}, line_bytes);
    return file;
  }

  const LayoutFile& trace_layouts(const std::string& trace, int line_bytes) {
    if (const auto known = layout_files_.find(trace); known != layout_files_.end()) return known->second;
    const LayoutFile& file = layout_files_.emplace(trace, load_trace_layouts(trace, line_bytes)).first->second;
    for (const LayoutChange& change : tables_.layout_changes) changed_layouts(file, {change}, line_bytes);
    return file;
  }

  MachineProtocols protocols(const Settings& settings, const MachineSpec& machine) {
    const Protocol& bus = protocol(settings.at("machine.bus.protocol"));
    if (!machine.has_nodes()) return bus;
    const Protocol& directory = protocol(settings.at("machine.directory.protocol"));
    const Setting& node = settings.at("machine.node.protocol");
    MachineProtocols loaded{
        bus,
        once(fmt::format("{} {} {}", machine.bus.protocol, machine.node.protocol, machine.directory.protocol),
             [&] { return load_node_protocol(machine.node.protocol, bus, directory, node.origin.place); }),
        directory};
    if (!machine.groups.empty()) {
      const GroupSpec& group = machine.groups.front();
      const Setting& setting = settings.at(fmt::format("machine.group.{}.protocol", group.name));
      loaded.group = once(fmt::format("{} {}", group.protocol, machine.directory.protocol),
                          [&] { return load_group_protocol(group.protocol, directory, setting.origin.place); });
    }
    for (const GroupSpec& group : machine.groups) {
      if (group.filter_entries == 0 || ControllerRules(loaded.group, Controller::group).eviction(Storage::entries) != nullptr)
        continue;
      const std::string path = fmt::format("machine.group.{}.filter_entries", group.name);
      throw ConfigError(fmt::format("{}: {}: {} has no filter of its own (no event Evict_Entry); legal: 0",
                                    settings.at(path).origin.place, path, loaded.group.name));
    }
    return loaded;
  }

  const Protocol& protocol(const Setting& setting) {
    const auto& name = std::get<std::string>(setting.value);
    return once(name, [&] { return load_protocol(name, setting.origin.place); });
  }

  // Returns the cached protocol, or loads it. `names`: the cache's key, made of the names of the protocol and its partners.
  template <class Load>
  const Protocol& once(const std::string& names, Load load) {
    const auto known = protocols_.find(names);
    return known != protocols_.end() ? known->second : protocols_.emplace(names, load()).first->second;
  }

  const Experiment experiment_;
  const ExperimentTables& tables_;
  std::map<std::string, Protocol> protocols_;
  std::map<std::string, LayoutFile> layout_files_;
  Family family_;  // the contention family of the latest point, so that the next point need not read its file again
  std::map<std::string, LuaFile> lua_files_;
  std::map<std::string, TraceFacts> traces_;
};

}  // namespace

std::size_t point_count(const Experiment& experiment) {
  std::size_t count = 1;
  for (const SweepAxis& axis : experiment.sweep) count *= axis.values[0].size();
  return count;
}

std::vector<PointPlace> outline(const Experiment& experiment) {
  std::vector<PointPlace> points;
  const auto count = static_cast<int>(point_count(experiment));
  for (int number = 0; number < count; ++number) points.push_back(point_place(experiment.sweep, number));
  return points;
}

PointMaker point_maker(Experiment experiment) {
  return [builder = std::make_shared<PointBuilder>(std::move(experiment))](int number) { return builder->build(number); };
}

bool lies_at(const PointPlace& point, const std::map<std::string, ConfigValue>& at) {
  return std::ranges::all_of(at, [&](const auto& wanted) {
    return std::ranges::any_of(point.at,
                               [&](const auto& actual) { return actual == std::pair<std::string, ConfigValue>(wanted); });
  });
}

}  // namespace linebounce::sim
