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

// Parameter and value, then the meaning and where the value is from: beside them, or below where the terminal is narrow.
class ParameterTable {
 public:
  explicit ParameterTable(const Painter& paint) : paint_(paint), beside_(!is_narrow(paint)), table_(columns(beside_), paint) {}

  void add_group(const std::string& name) { table_.add_text("  " + paint_(Colour::cyan, name) + "\n"); }
  void add(const std::string& key, const DescribedParameter& parameter) {
    const std::string value = parameter.unit.empty() ? parameter.value : parameter.value + " " + parameter.unit;
    const Cell name = "  " + key, shown = {value, parameter.given ? Colour::bold : Colour::dim};
    // What nobody has said where it is from is yellow.
    const Colour source_colour = parameter.has_source ? Colour::dim : Colour::yellow;
    const std::string source = parameter.given ? parameter.source : "default; " + parameter.source;
    if (beside_) {
      table_.add({name, shown, parameter.meaning});
      table_.add({"", "", {source, source_colour}});
      return;
    }
    table_.add({name, shown});
    add_below(parameter.meaning, Colour::none);
    add_below(source, source_colour);
  }
  [[nodiscard]] std::string text() const { return table_.text(); }

 private:
  static std::vector<Column> columns(bool beside) {
    std::vector<Column> columns = {words("parameter", 34), words("value", 0, 1)};
    if (beside) columns.push_back(prose("meaning, and source of the value", 0, 2));
    return columns;
  }
  void add_below(const std::string& text, Colour colour) {
    constexpr std::size_t kIndent = 8;
    table_.add_text(paragraph(text, kIndent, colour, paint_));
  }

  const Painter& paint_;
  bool beside_;
  Table table_;
};

// What was changed since the file was first written, the oldest first.
std::string history_text(const std::vector<HistoryEntry>& history, const Painter& paint) {
  if (history.empty()) return "";
  std::string out = "\n  " + paint(Colour::dim, "history") + "\n";
  for (const HistoryEntry& entry : history) {
    out += "  " + paint(Colour::cyan, entry.date) + "  " + wrapped_from(entry.what, 14, Colour::none, paint);
    for (const ChangedParameter& changed : entry.changed)
      out += paragraph(changed.path + ": " + changed.before + " → " + changed.after, 14, Colour::none, paint);
    out += paragraph(entry.why, 14, Colour::dim, paint);
  }
  return out;
}

ordered_json history_json(const std::vector<HistoryEntry>& history) {
  ordered_json out = ordered_json::array();
  for (const HistoryEntry& entry : history) {
    ordered_json changed = ordered_json::array();
    for (const ChangedParameter& parameter : entry.changed)
      changed.push_back({{"path", parameter.path}, {"before", parameter.before}, {"after", parameter.after}});
    out.push_back({{"date", entry.date}, {"what", entry.what}, {"why", entry.why}, {"changed", std::move(changed)}});
  }
  return out;
}

}  // namespace

std::string machine_page(const std::string& name, const Painter& paint) {
  const DescribedMachine machine = load_machine(name);
  ParameterTable table(paint);
  std::string group;
  for (const DescribedParameter& parameter : machine.parameters) {
    const auto [of_group, key] = split(parameter.path);
    if (of_group != group) table.add_group(of_group);
    group = of_group;
    table.add(key, parameter);
  }
  const std::string out = titled(machine.spec.name, machine.spec.title, paint) + "\n" +
                          draw_topology(machine.spec, paint.columns()) + "\n" + table.text() +
                          history_text(machine.history, paint);
  const std::string note = left_out_text(machine.times_left_out);
  return note.empty() ? out : out + "\n" + paragraph(note, 2, Colour::yellow, paint);
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
    entry["given"] = parameter.given;
    parameters.push_back(std::move(entry));
  }
  ordered_json out;
  out["name"] = machine.spec.name;
  out["title"] = machine.spec.title;
  out["cpus"] = machine.spec.cpus;
  out["parameters"] = std::move(parameters);
  out["history"] = history_json(machine.history);
  return out;
}

}  // namespace linebounce::sim
