#include "sim/config/config_change.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <sstream>

#include "sim/config/settings.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kMostShown = 3;
constexpr std::size_t kLongestValue = 40;

std::string text_of_node(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  std::ostringstream text;
  node.visit([&text](const auto& value) { text << value; });
  return text.str();
}

std::map<std::string, std::string> values_by_path(const toml::table& table) {
  std::map<std::string, std::string> values;
  for (const Leaf& leaf : leaves(table, "", "", {})) values.emplace(leaf.path, text_of_node(*leaf.node));
  return values;
}

std::string value_or_none(const std::map<std::string, std::string>& values, const std::string& path) {
  const auto found = values.find(path);
  return found == values.end() ? "unset" : found->second;
}

std::string change_of(const std::string& path, const std::string& there, const std::string& here) {
  if (there.size() > kLongestValue || here.size() > kLongestValue) return "another " + path;
  return fmt::format("{} = {}, not {}", path, there, here);
}

}  // namespace

std::string differing_settings(const toml::table& there, const toml::table& here) {
  const auto before = values_by_path(there), now = values_by_path(here);
  std::set<std::string> paths;
  for (const auto* values : {&before, &now}) {
    for (const auto& [path, value] : *values) {
      if (value_or_none(before, path) != value_or_none(now, path)) paths.insert(path);
    }
  }
  std::string out;
  std::size_t shown = 0;
  for (const std::string& path : paths) {
    if (shown == kMostShown) {
      const std::size_t more = paths.size() - shown;
      return fmt::format("{}; and {} more difference{}", out, more, more == 1 ? "" : "s");
    }
    ++shown;
    out += (out.empty() ? "" : "; ") + change_of(path, value_or_none(before, path), value_or_none(now, path));
  }
  return out;
}

}  // namespace linebounce::sim
