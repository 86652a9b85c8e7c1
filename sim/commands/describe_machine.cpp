#include <algorithm>

#include "sim/commands/named_kinds.hpp"
#include "sim/config/machine_file.hpp"
#include "sim/terminal/machine_drawing.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kNameWidth = 32;
constexpr std::size_t kValueWidth = 12;
constexpr std::size_t kUnitWidth = 13;
constexpr std::size_t kTextColumn = 4 + kNameWidth + kValueWidth + kUnitWidth;
constexpr std::size_t kMeaningWidth = 46;
constexpr std::size_t kRoomForMeanings = 150;  // columns: of fewer, the sources would take too many lines

// "machine.cache.L1D" and "size_kib" of "machine.cache.L1D.size_kib".
std::pair<std::string, std::string> split(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return {path.substr(0, dot), path.substr(dot + 1)};
}

// What a parameter means beside where it comes from, each in lines of its own.
std::string with_meaning(const DescribedParameter& parameter, const std::string& begin, Colour colour, const Painter& paint) {
  const auto meaning = wrapped(parameter.meaning, kMeaningWidth - 2);
  const auto source = wrapped(parameter.source, paint.columns() - kTextColumn - kMeaningWidth);
  std::string out;
  for (std::size_t i = 0; i < std::max(meaning.size(), source.size()); ++i) {
    const std::string left = i < meaning.size() ? meaning[i] : "";
    const std::string right = i < source.size() ? paint(colour, source[i]) : "";
    out += i == 0 ? begin : std::string(kTextColumn, ' ');
    out += (right.empty() ? left : pad_right(left, kMeaningWidth) + right) + "\n";
  }
  return out;
}

std::string parameter_text(const DescribedParameter& parameter, const std::string& key, const Painter& paint) {
  // A long value, a list for instance, takes what it needs.
  const std::string head = "    " + pad_right(key, kNameWidth) + pad_right(parameter.value, kValueWidth);
  std::string begin = pad_right(head + parameter.unit, kTextColumn);
  if (width_of(begin) > kTextColumn) begin += "\n" + std::string(kTextColumn, ' ');
  const Colour colour = parameter.has_source ? Colour::dim : Colour::yellow;
  if (paint.columns() >= kRoomForMeanings) return with_meaning(parameter, begin, colour, paint);
  return begin + wrapped_from(parameter.source, kTextColumn, colour, paint);
}

}  // namespace

std::string machine_page(const std::string& name, const Painter& paint) {
  const DescribedMachine machine = load_machine(name);
  std::string out =
      paint(Colour::bold, machine.spec.name) + "  " + machine.spec.title + "\n\n" + draw_topology(machine.spec) + "\n";
  std::string header =
      pad_right("  parameter", 4 + kNameWidth) + pad_right("value", kValueWidth) + pad_right("unit", kUnitWidth);
  if (paint.columns() >= kRoomForMeanings) header += pad_right("meaning", kMeaningWidth);
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
