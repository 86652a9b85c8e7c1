#include <fmt/ranges.h>

#include "commands/describe/named_kinds.hpp"
#include "sim/config/contention.hpp"
#include "sim/config/schema.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

KeySpace machine_keys() {
  KeySpace keys;
  keys.add(schema_keys({}));
  return keys;
}

std::string range_text(const Family::Parameter& parameter) {
  std::vector<std::string> values;
  for (const ConfigValue& value : parameter.others) values.push_back(plain_text(value));
  return fmt::format("{}", fmt::join(values, ", "));
}

}  // namespace

std::string family_page(const std::string& name, const Painter& paint) {
  const Family family = load_family(name, "");
  const KeySpace keys = machine_keys();
  Table table({words("parameter", 34), words("value", 0, 1), prose("meaning, and source of the value", 0, 2)}, paint);
  for (const Family::Parameter& parameter : family.parameters) {
    const KeyInfo& key = keys.require(parameter.path, parameter.setting.origin);
    const std::string value = plain_text(parameter.setting.value);
    table.add({parameter.path, {key.unit.empty() ? value : value + " " + key.unit, Colour::bold}, key.meaning});
    table.add({"", "", {parameter.source, Colour::dim}});
    if (!parameter.others.empty()) table.add({"", "", {"may also be " + range_text(parameter), Colour::dim}});
  }
  return titled(family.name, family.title, paint) + "\n" + table.text();
}

ordered_json family_json(const std::string& name) {
  const Family family = load_family(name, "");
  ordered_json parameters = ordered_json::array();
  for (const Family::Parameter& parameter : family.parameters) {
    const auto plain_json = [](const ConfigValue& value) {
      return std::visit([](const auto& plain) { return ordered_json(plain); }, value);
    };
    ordered_json range = ordered_json::array();
    for (const ConfigValue& other : parameter.others) range.push_back(plain_json(other));
    parameters.push_back({{"path", parameter.path},
                          {"value", plain_json(parameter.setting.value)},
                          {"range", std::move(range)},
                          {"source", parameter.source}});
  }
  return {{"name", family.name}, {"title", family.title}, {"parameters", std::move(parameters)}};
}

}  // namespace linebounce::sim
