#include "sim/commands/kinds.hpp"
#include "sim/commands/topology.hpp"
#include "sim/config/machine_file.hpp"

namespace linebounce {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kNameWidth = 32;
constexpr std::size_t kValueWidth = 12;
constexpr std::size_t kUnitWidth = 13;
constexpr std::size_t kTextColumn = 4 + kNameWidth + kValueWidth + kUnitWidth;

// "machine.cache.L1D" and "size_kib" of "machine.cache.L1D.size_kib".
std::pair<std::string, std::string> split(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return {path.substr(0, dot), path.substr(dot + 1)};
}

std::string parameter_text(const DescribedParameter& parameter, const std::string& key, const Painter& paint) {
  // A long value, a list for instance, takes what it needs.
  const std::string head = "    " + pad_right(key, kNameWidth) + pad_right(parameter.value, kValueWidth);
  const std::string line = pad_right(head + parameter.unit, kTextColumn);
  const Colour colour = parameter.has_source ? Colour::dim : Colour::yellow;
  const std::string source = wrapped_from(parameter.source, kTextColumn, colour, paint);
  if (width_of(line) > kTextColumn) return line + "\n" + std::string(kTextColumn, ' ') + source;
  return line + source;
}

}  // namespace

std::string machine_page(const std::string& name, const Painter& paint) {
  const DescribedMachine machine = load_machine(name);
  std::string out =
      paint(Colour::bold, machine.spec.name) + "  " + machine.spec.title + "\n\n" + draw_topology(machine.spec) + "\n";
  std::string header =
      pad_right("  parameter", 4 + kNameWidth) + pad_right("value", kValueWidth) + pad_right("unit", kUnitWidth);
  out += paint(Colour::dim, header + "source") + "\n";
  std::string group;
  for (const DescribedParameter& parameter : machine.parameters) {
    const auto [of_group, key] = split(parameter.path);
    if (of_group != group) out += "  " + paint(Colour::cyan, of_group) + "\n";
    group = of_group;
    out += parameter_text(parameter, key, paint);
  }
  return out;
}

ordered_json machine_json(const std::string& name) {
  const DescribedMachine machine = load_machine(name);
  ordered_json parameters = ordered_json::array();
  for (const DescribedParameter& parameter : machine.parameters) {
    ordered_json entry;
    entry["path"] = parameter.path;
    entry["value"] = parameter.value;
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

}  // namespace linebounce
