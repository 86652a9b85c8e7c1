#include "sim/config/resolved.hpp"

#include <fmt/format.h>

#include <set>

#include "sim/config/experiment.hpp"
#include "sim/config/placement.hpp"
#include "sim/config/project_files.hpp"

namespace linebounce {
namespace {

constexpr std::string_view kMachine = "machine.";

toml::table sources_table(const Settings& settings, const Sources& sources) {
  Sources all = sources;
  for (const auto& [path, setting] : settings) {
    if (path.starts_with(kMachine) && !setting.origin.given.empty()) all[path] = "assumed: " + setting.origin.given;
  }
  toml::table table;
  for (const auto& [path, source] : all) table.insert(path.substr(kMachine.size()), source);
  return table;
}

// FNV-1a, 64 bits.
std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3U;
  }
  return hash;
}

// Every protocol that the configuration names: the machine's, and those of a sweep.
std::set<std::string> protocols(const toml::table& resolved) {
  std::set<std::string> names;
  const auto* axes = resolved["sweep"]["together"].as_array();
  for (const std::string_view key : kProtocolKeys) {
    if (const auto name = resolved.at_path(key).value<std::string>()) names.insert(*name);
    for (std::size_t i = 0; axes && i < axes->size(); ++i) {
      const auto* list = (*axes)[i].is_table() ? (*axes)[i].as_table()->get_as<toml::array>(key) : nullptr;
      for (std::size_t value = 0; list && value < list->size(); ++value) names.insert((*list)[value].value_or(std::string{}));
    }
  }
  names.erase("");  // no protocol: the machine is one bus
  return names;
}

}  // namespace

toml::table resolved_settings(const Settings& settings, const MachineTables& machine) {
  toml::table resolved;
  for (const auto& [path, setting] : settings) {
    if (path.starts_with("engine.")) continue;
    const KeyInfo* key = machine.keys.find(path);
    if (key && !is_shown(*key, settings)) continue;
    // An object's name may have dots of its own.
    const auto dot = path.starts_with(kPlacementPrefix) ? kPlacementPrefix.size() - 1 : path.rfind('.');
    insert_value(table_at(resolved, path.substr(0, dot)), path.substr(dot + 1), setting.value);
  }
  toml::array levels;
  for (const auto& name : machine.parts.caches) levels.push_back(name);
  auto& tables = table_at(resolved, "machine");
  tables.insert("cache_levels", std::move(levels));
  tables.insert("sources", sources_table(settings, machine.sources));
  return resolved;
}

std::string configuration_hash(const toml::table& resolved) {
  toml::table essential = resolved;
  for (const auto* key : {"title", "paper", "overridden"}) essential.erase(key);
  if (auto* machine = essential["machine"].as_table()) {
    for (const auto* key : {"title", "sources"}) machine->erase(key);
  }
  std::string text = to_toml(essential);
  for (const auto& name : protocols(resolved)) text += read_text(find_file(kProtocolFiles, name, "", "protocol"));
  return fmt::format("{:016x}", fnv1a(text));
}

}  // namespace linebounce
