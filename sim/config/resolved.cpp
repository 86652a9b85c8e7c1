// The resolved configuration, which becomes config.toml: every setting with its value.
#include <algorithm>
#include <array>
#include <set>

#include "sim/config/experiment.hpp"
#include "sim/config/experiment_tables.hpp"
#include "sim/config/layout_file.hpp"
#include "sim/config/lua_files.hpp"
#include "sim/config/measured_tables.hpp"
#include "sim/config/placement.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/config/recorded_run.hpp"
#include "trace/fingerprint.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kMachine = "machine.";
constexpr std::string_view kSubstituteLocksPrefix = "workload.locks.";  // parameters of replay

toml::table sources_table(const Settings& settings, const MachineTables& machine) {
  Sources all = machine.sources;
  for (const auto& [path, setting] : settings) {
    if (path.starts_with(kMachine) && !setting.origin.given.empty()) all[path] = "assumed: " + setting.origin.given;
  }
  // The experiment sets or sweeps this parameter, so its source must not say that the machine's file leaves it out.
  std::erase_if(all, [&](const auto& source) {
    const auto& [path, text] = source;
    return text == kLeftOutSource && machine.defaults.contains(path) && settings.at(path).from == Setting::From::given;
  });
  toml::table table;
  for (const auto& [path, source] : all) table.insert(path.substr(kMachine.size()), source);
  return table;
}

// Returns all values that a key may have: the experiment's own, and those of a sweep.
std::vector<const toml::node*> values_of(const toml::table& resolved, std::string_view key) {
  std::vector<const toml::node*> values;
  if (const toml::node* own = resolved.at_path(key).node()) values.push_back(own);
  const auto* axes = resolved["sweep"]["together"].as_array();
  for (std::size_t i = 0; axes && i < axes->size(); ++i) {
    const auto* list = (*axes)[i].is_table() ? (*axes)[i].as_table()->get_as<toml::array>(key) : nullptr;
    for (std::size_t value = 0; list && value < list->size(); ++value) values.push_back(list->get(value));
  }
  return values;
}

// Returns all files that the configuration names with one of these keys.
template <class Keys>
std::set<std::string> files_named(const toml::table& resolved, const Keys& keys) {
  std::set<std::string> names;
  for (const std::string_view key : keys) {
    for (const toml::node* value : values_of(resolved, key)) names.insert(value->value_or(std::string{}));
  }
  names.erase("");  // none
  return names;
}

// Adds the files of programs, locks and counters that occur below this node.
void add_lua_files(const toml::node& node, std::set<std::string>& names) {
  if (const auto* table = node.as_table()) {
    for (const auto& [key, value] : *table) add_lua_files(value, names);
  } else if (const auto* array = node.as_array()) {
    for (const auto& value : *array) add_lua_files(value, names);
  } else if (const auto text = node.value<std::string>(); text && is_source_path(*text)) {
    names.insert(*text);
  }
}

std::string lua_text(const toml::table& resolved) {
  std::set<std::string> names;
  for (const char* part : {"workload", "sweep"}) {
    if (const toml::node* node = resolved.get(part)) add_lua_files(*node, names);
  }
  std::string text;
  for (const std::string& name : names) text += read_text(name);
  return text;
}

std::string measured_text(const toml::array& tables) {
  std::string text;
  for (const auto& table : tables)
    text += read_text(measured_table_file(table.as_table()->at("file").value_or(std::string{}), ""));
  return text;
}

toml::table without(const toml::table& table, std::initializer_list<std::string_view> left_out) {
  toml::table rest;
  for (const auto& [key, value] : table) {
    if (std::ranges::find(left_out, key.str()) == left_out.end()) rest.insert(key, value);
  }
  return rest;
}

// True if a replay may recover damage. Finding it requires the whole trace; otherwise the index suffices.
bool recovers(const toml::table& resolved) {
  const std::vector<const toml::node*> values = values_of(resolved, "workload.recover");
  return std::ranges::any_of(values, [](const toml::node* value) { return value->value_or(false); });
}

}  // namespace

toml::table resolved_settings(const Settings& settings, const MachineTables& machine) {
  toml::table resolved;
  for (const auto& [path, setting] : settings) {
    if (path.starts_with("engine.")) continue;
    const KeyInfo* key = machine.keys.find(path);
    if (key && !is_shown(*key, settings)) continue;
    // In these paths, all that follows the prefix is one key, because names of objects and locks may contain dots.
    const auto dot = path.starts_with(kPlacementPrefix)         ? kPlacementPrefix.size() - 1
                     : path.starts_with(kSubstituteLocksPrefix) ? kSubstituteLocksPrefix.size() - 1
                                                                : path.rfind('.');
    insert_value(table_at(resolved, path.substr(0, dot)), path.substr(dot + 1), setting.value);
  }
  toml::array levels;
  for (const auto& name : machine.parts.caches) levels.push_back(name);
  auto& tables = table_at(resolved, "machine");
  tables.insert("cache_levels", std::move(levels));
  toml::array groups;
  for (const auto& name : machine.parts.groups) groups.push_back(name);
  if (!groups.empty()) tables.insert("group_levels", std::move(groups));
  tables.insert("sources", sources_table(settings, machine));
  return resolved;
}

void add_layout_changes(toml::table& resolved, const std::vector<LayoutChange>& changes) {
  if (!changes.empty()) table_at(resolved, "layout").insert("change", layout_changes_table(changes));
}

toml::table essential_settings(const toml::table& resolved) {
  toml::table essential = without(resolved, {"title", "family", "paper", "report", "overridden", "machine"});
  if (const auto* machine = resolved["machine"].as_table())
    essential.insert("machine", without(*machine, {"title", "sources"}));
  return essential;
}

std::string configuration_hash(const toml::table& resolved) {
  toml::table essential = essential_settings(resolved);
  std::string text;
  if (auto* tables = essential["table"].as_array()) {
    erase_scoring(*tables);
    text += measured_text(*tables);
  }
  text += to_toml(essential);
  const auto add_protocol = [&text](const std::string& name) {
    for (const ProtocolFile& file : read_protocol_files(name, "protocol")) text += file.text;
  };
  for (const auto& name : files_named(resolved, kProtocolKeys)) add_protocol(name);
  if (const auto* groups = resolved["machine"]["group"].as_table()) {
    for (const auto& [level, group] : *groups)
      add_protocol(resolved["machine"]["group"][level.str()]["protocol"].value_or(std::string{}));
  }
  for (const auto& name : files_named(resolved, std::array{kLayoutKey})) text += read_text(find_layout_file(name, "layout"));
  for (const auto& name : files_named(resolved, std::array{kTraceKey}))
    text += trace::Reader(name, {.recover = recovers(resolved)}).fingerprint();
  text += lua_text(resolved);
  return trace::fingerprint_of(text);
}

}  // namespace linebounce::sim
