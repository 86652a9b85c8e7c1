// `extends = "NAME"`: an experiment that states only its differences from another one.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "sim/config/experiment_tables.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/table_reader.hpp"
#include "sim/config/toml_text.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExtends = "extends";
// Keys that are never inherited.
constexpr std::array kOwn = {"name", "title", "family", "sweep", "paper", "table", kExtends};
constexpr std::size_t kLongestChain = 32;
// Tables that are merged key by key. Any other table of the base is inherited only if the file lacks it.
constexpr std::array kMerged = {"placement", "workload", "run", "engine", "set", "report", "layout"};

// Moves the node, because a copy would lose its position in the file.
void move_into(toml::table& to, const toml::key& key, toml::node& node) {
  node.visit([&](auto& plain) { to.insert_or_assign(key, std::move(plain)); });
}

// Returns the paths that a file sets. A value may be set in two forms: `lock` in [workload] and "workload.lock" in [set] are
// the same path.
std::set<std::string> paths_set(const toml::table& table, const std::string& file) {
  std::set<std::string> paths;
  for (const char* name : kMerged) {
    const auto* inner = table[name].as_table();
    if (inner == nullptr) continue;
    const std::string prefix = std::string(name) == "set" ? "" : name;
    for (const Leaf& leaf : leaves(*inner, prefix, file, {})) paths.insert(leaf.path);
  }
  return paths;
}

// Merges the base's table into `table`. Skips the paths in `given`, which the extending file sets itself. `prefix`: the
// table's path.
void lay_under(toml::table& table, toml::table& base, const std::string& prefix, const std::set<std::string>& given) {
  for (auto&& [key, node] : base) {
    const std::string path = prefix + (prefix.empty() ? "" : ".") + std::string(key.str());
    if (given.contains(path)) continue;
    auto* below = node.as_table();
    const auto next = given.lower_bound(path + ".");
    const bool shared = below != nullptr && next != given.end() && next->starts_with(path + ".");
    if (!shared && !table.contains(key)) {
      move_into(table, key, node);
    } else if (below != nullptr) {
      auto* own = table.insert(key, toml::table{}).first->second.as_table();
      if (own != nullptr) lay_under(*own, *below, path, given);
    }
  }
}

// Joins the [[layout.change]]s of both files into one list, with the base's first.
void join_changes(toml::table& table, toml::table& base) {
  auto* first = base["layout"]["change"].as_array();
  auto* then = table["layout"]["change"].as_array();
  if (first == nullptr || then == nullptr) return;
  for (toml::node& change : *then) change.visit([&](auto& plain) { first->push_back(std::move(plain)); });
  std::swap(*first, *then);
  base["layout"].as_table()->erase("change");
}

void lay_over(toml::table& table, toml::table& base, const std::string& file) {
  for (const char* own : kOwn) base.erase(own);
  join_changes(table, base);
  const auto given = paths_set(table, file);
  for (auto&& [key, node] : base) {
    const bool merged = std::ranges::find(kMerged, key.str()) != kMerged.end() && node.is_table();
    if (!merged && !table.contains(key)) move_into(table, key, node);
    if (!merged) continue;
    // The extending file has a value in place of the base's table; the reader refuses it later.
    if (table.contains(key) && !table.get(key)->is_table()) continue;
    auto* own = table.insert(key, toml::table{}).first->second.as_table();
    lay_under(*own, *node.as_table(), key.str() == "set" ? "" : std::string(key.str()), given);
  }
}

// Returns the file's canonical path. A broken symbolic link stays as it is; the code that reads the file reports it.
std::string path_in_chain(const fs::path& file) {
  std::error_code unreadable;
  const fs::path path = fs::weakly_canonical(file, unreadable);
  return unreadable ? file.string() : path.string();
}

toml::table read_chain(const std::string& text, const fs::path& file, std::vector<std::string> chain) {
  toml::table table = parse_toml(text, file.string());
  if (!table.contains(kExtends)) return table;
  TableReader reader(table, file.string(), "");
  const std::string named = reader.required_text(kExtends);
  reader.required_text("name");
  reader.required_text("title");
  const Origin origin = reader.origin_of(kExtends);
  const fs::path base_file = find_file(kExperimentFiles, named, file.parent_path(), origin.place + ": " + kExtends);
  chain.push_back(path_in_chain(file));
  const std::string next = path_in_chain(base_file);
  if (std::ranges::find(chain, next) != chain.end())
    fail(origin, kExtends, fmt::format("extends itself: {} -> {}", fmt::join(chain, " -> "), next));
  if (chain.size() >= kLongestChain) fail(origin, kExtends, fmt::format("a chain of more than {} files", kLongestChain));
  std::error_code unreadable;
  if (fs::status(base_file, unreadable).type() == fs::file_type::not_found)
    fail(origin, kExtends, fmt::format("there is no file {}", base_file.string()));
  toml::table base = read_chain(read_text(base_file), base_file, std::move(chain));
  lay_over(table, base, file.string());
  table.erase(kExtends);
  return table;
}

}  // namespace

toml::table read_experiment_table(const std::string& text, const fs::path& file) {
  return read_chain(text, file, {});
}

}  // namespace linebounce::sim
