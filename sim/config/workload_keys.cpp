#include "sim/config/workload_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/config/lua_files.hpp"
#include "sim/config/suggestions.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kPrefix = "workload.";

KeyInfo key_of(const ParameterDeclaration& declaration) {
  KeyInfo key{std::string(kPrefix) + declaration.name,
              type_of(declaration.default_value),
              std::string(unit_suffix(declaration.name)),
              declaration.meaning,
              declaration.minimum,
              declaration.maximum,
              declaration.choices};
  key.refusals = declaration.refusals;
  if (declaration.why_no_lock) key.files_of = "lock";
  if (declaration.why_no_counter) key.files_of = "counter";
  return key;
}

// Returns the part of a path after "workload."; empty for any other path.
std::string_view parameter_of(std::string_view path) {
  return path.starts_with(kPrefix) ? path.substr(kPrefix.size()) : std::string_view();
}

// True if the name is an entry of an open parameter's table: "locks.dcache_lock" of "locks.default".
bool opens(const ParameterDeclaration& declaration, std::string_view name) {
  if (!declaration.open) return false;
  const auto table = std::string_view(declaration.name).substr(0, declaration.name.rfind('.') + 1);
  return name.starts_with(table) && name.size() > table.size();
}

template <class Entry>
std::vector<std::string> names(std::span<const Entry> entries) {
  std::vector<std::string> out;
  for (const auto& entry : entries) out.push_back(entry.name);
  return out;
}

const WorkloadEntry& entry_of(const Catalogue& catalogue, const std::string& name) {
  const auto found = std::ranges::find_if(catalogue.workloads, [&](const auto& entry) { return entry.name == name; });
  if (found == catalogue.workloads.end()) throw std::out_of_range("no workload " + name);
  return *found;
}

const WorkloadEntry& entry_of(const Catalogue& catalogue, const Settings& settings) {
  return entry_of(catalogue, std::get<std::string>(settings.at("workload.name").value));
}

// Returns the file that workload.program names; empty if there is none.
std::string program_of(const Settings& settings) {
  const auto named = settings.find(kProgramKey);
  return named == settings.end() ? "" : std::get<std::string>(named->second.value);
}

bool runs_files(const WorkloadEntry& entry) {
  return std::ranges::any_of(entry.parameters,
                             [](const auto& declaration) { return std::string(kPrefix) + declaration.name == kProgramKey; });
}

// Returns the workload's own parameters, followed by those that the program's file declares.
std::vector<ParameterDeclaration> parameters_of(const Catalogue& catalogue, const Settings& settings) {
  std::vector<ParameterDeclaration> all = entry_of(catalogue, settings).parameters;
  const auto program = catalogue.programs.find(program_of(settings));
  if (program == catalogue.programs.end()) return all;
  all.insert(all.end(), program->second.parameters.begin(), program->second.parameters.end());
  return all;
}

// Converts a value to the parameter's declared type. A number parameter thus accepts the integer 4.
ParameterValue as_declared(const ParameterDeclaration& declaration, const ConfigValue& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer && std::holds_alternative<double>(declaration.default_value)) return static_cast<double>(*integer);
  return value;
}

}  // namespace

KeyInfo workload_name_key(const Catalogue& catalogue) {
  KeyInfo key{"workload.name", ValueType::text, "", "which workload runs"};
  key.choices = names(catalogue.workloads);
  // An empty list would allow any value, but without workloads none may be legal.
  if (key.choices.empty()) key.choices.emplace_back("(there are none)");
  return key;
}

std::vector<KeyInfo> workload_keys(const Catalogue& catalogue, const std::string& name) {
  std::vector<KeyInfo> keys;
  const WorkloadEntry& entry = entry_of(catalogue, name);
  for (const auto& declaration : entry.parameters) keys.push_back(key_of(declaration));
  if (!runs_files(entry)) return keys;
  for (const auto& program : catalogue.programs) {
    for (const auto& declaration : program.second.parameters) keys.push_back(key_of(declaration));
  }
  return keys;
}

const ParameterDeclaration* parameter_at(const Settings& settings, const Catalogue& catalogue, const std::string& path) {
  const std::string_view name = parameter_of(path);
  if (name.empty()) return nullptr;
  const auto find = [name](const std::vector<ParameterDeclaration>& all) -> const ParameterDeclaration* {
    const auto found = std::ranges::find_if(
        all, [name](const auto& declaration) { return name == declaration.name || opens(declaration, name); });
    return found == all.end() ? nullptr : &*found;
  };
  if (const auto* own = find(entry_of(catalogue, settings).parameters)) return own;
  const auto program = catalogue.programs.find(program_of(settings));
  return program == catalogue.programs.end() ? nullptr : find(program->second.parameters);
}

void add_open_key(KeySpace& keys, const Catalogue& catalogue, const std::string& name, const std::string& path) {
  for (const auto& declaration : entry_of(catalogue, name).parameters) {
    if (!opens(declaration, parameter_of(path)) || keys.find(path) != nullptr) continue;
    KeyInfo key = key_of(declaration);
    key.path = path;
    keys.add(key);
  }
}

void fill_workload_defaults(Settings& settings, const Catalogue& catalogue, const Origin& origin) {
  for (const auto& declaration : parameters_of(catalogue, settings)) {
    settings.emplace(std::string(kPrefix) + declaration.name, Setting{canonical(declaration.default_value), origin});
  }
}

Parameters to_parameters(const Settings& settings, const Catalogue& catalogue) {
  const WorkloadEntry& entry = entry_of(catalogue, settings);
  KeySpace keys;
  keys.add(workload_name_key(catalogue));
  keys.add(workload_keys(catalogue, entry.name));
  std::map<std::string, ParameterValue> values;
  for (const auto& [path, setting] : settings) {
    if (!path.starts_with(kPrefix)) continue;
    add_open_key(keys, catalogue, entry.name, path);
    const auto* key = keys.find(path);
    if (!key)
      fail(setting.origin, path, fmt::format("workload {} has no such parameter: {}", entry.name, keys.unknown_text(path, "")));
    checked(*key, setting.value, setting.origin);
    if (path != "workload.name") values.emplace(path.substr(kPrefix.size()), setting.value);
  }
  for (const auto& declaration : parameters_of(catalogue, settings)) {
    values.insert_or_assign(declaration.name,
                            as_declared(declaration, settings.at(std::string(kPrefix) + declaration.name).value));
  }
  return Parameters(std::move(values));
}

}  // namespace linebounce::sim
