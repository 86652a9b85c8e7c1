#include <algorithm>

#include "sim/commands/named_kinds.hpp"
#include "sim/config/machine_file.hpp"
#include "sim/terminal/machine_drawing.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

// "machine.cache.L1D" and "size_kib" of "machine.cache.L1D.size_kib".
std::pair<std::string, std::string> split(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return {path.substr(0, dot), path.substr(dot + 1)};
}

Table parameter_table(bool with_meanings, const Painter& paint) {
  std::vector<Column> columns = {words("parameter", 34), words("value", 12), words("unit", 13), prose("source")};
  if (with_meanings) {
    constexpr std::size_t kMeaning = 44, kSourceColumn = 107;
    columns.insert(columns.end() - 1, prose("meaning", kMeaning));
    columns.back().width = paint.columns() - kSourceColumn;
    columns.back().gap = 2;
  }
  return {std::move(columns), paint};
}

}  // namespace

std::string machine_page(const std::string& name, const Painter& paint) {
  const DescribedMachine machine = load_machine(name);
  constexpr std::size_t kRoomForMeanings = 150;  // columns: of fewer, the sources would take too many lines
  const bool with_meanings = paint.columns() >= kRoomForMeanings;
  Table table = parameter_table(with_meanings, paint);
  std::string group;
  for (const DescribedParameter& parameter : machine.parameters) {
    const auto [of_group, key] = split(parameter.path);
    if (of_group != group) table.add_text("  " + paint(Colour::cyan, of_group) + "\n");
    group = of_group;
    std::vector<Cell> cells = {"  " + key, parameter.value, parameter.unit};
    if (with_meanings) cells.emplace_back(parameter.meaning);
    cells.emplace_back(parameter.source, parameter.has_source ? Colour::dim : Colour::yellow);
    table.add(std::move(cells));
  }
  return paint(Colour::bold, machine.spec.name) + "  " + machine.spec.title + "\n\n" + draw_topology(machine.spec) + "\n" +
         table.text();
}

ordered_json machine_json(const std::string& name) {
  const DescribedMachine machine = load_machine(name);
  ordered_json parameters = ordered_json::array();
  for (const DescribedParameter& parameter : machine.parameters) {
    ordered_json entry;
    entry["path"] = parameter.path;
    // A number or true and false as such; anything else is text.
    entry["value"] =
        ordered_json::accept(parameter.value) ? ordered_json::parse(parameter.value) : ordered_json(parameter.value);
    entry["unit"] = parameter.unit;
    entry["meaning"] = parameter.meaning;
    entry["source"] = parameter.source;
    entry["has_source"] = parameter.has_source;
    parameters.push_back(std::move(entry));
  }
  ordered_json out;
  out["name"] = machine.spec.name;
  out["title"] = machine.spec.title;
  out["cpus"] = machine.spec.cpus;
  out["parameters"] = std::move(parameters);
  return out;
}

}  // namespace linebounce::sim
