#include <algorithm>
#include <map>

#include "commands/describe/named_kinds.hpp"
#include "models/machine_layout.hpp"
#include "sim/config/machine_file.hpp"
#include "sim/terminal/machine_drawing.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

// Splits "machine.cache.L1D.size_kib" into "machine.cache.L1D" and "size_kib".
std::pair<std::string, std::string> split(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return {path.substr(0, dot), path.substr(dot + 1)};
}

// The source that most parameters of a group share; empty if no two share one.
std::string shared_source(const std::vector<DescribedParameter>& group) {
  std::map<std::string, int> uses;
  for (const DescribedParameter& parameter : group) ++uses[parameter.source];
  const auto most = std::ranges::max_element(uses, [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->second > 1 ? most->first : "";
}

// Yellow marks a parameter without a source.
Colour source_colour(const DescribedParameter& parameter) {
  return parameter.has_source ? Colour::dim : Colour::yellow;
}

// A table of parameters with name and value, meaning and source. The last two are columns, or lines of their own on a narrow
// terminal.
class ParameterTable {
 public:
  explicit ParameterTable(const Painter& paint) : paint_(paint), beside_(!is_narrow(paint)), table_(columns(beside_), paint) {
    table_.add_text("  " + paint(Colour::dim, "in parentheses: the default; in brackets: from the contention family") + "\n");
  }

  // Adds the parameters of one table of the machine's file. A source that several of them share is printed once, at the top.
  void add_group(const std::string& name, const std::vector<DescribedParameter>& group) {
    table_.add_text("  " + paint_(Colour::cyan, name) + "\n");
    const std::string shared = shared_source(group);
    const auto first = std::ranges::find_if(group, [&](const auto& one) { return one.source == shared; });
    if (first != group.end())
      table_.add_text(paragraph("where no source is named: " + shared, 4, source_colour(*first), paint_));
    for (const DescribedParameter& parameter : group) add(parameter, parameter.source == shared ? "" : parameter.source);
  }
  [[nodiscard]] std::string text() const { return table_.text(); }

 private:
  static std::vector<Column> columns(bool beside) {
    std::vector<Column> columns = {words("parameter", 34), words("value", 0, 1)};
    if (beside) columns.push_back(prose("meaning, and source of the value", 0, 2));
    return columns;
  }
  void add(const DescribedParameter& parameter, const std::string& source) {
    const std::string value = parameter.unit.empty() ? parameter.value : parameter.value + " " + parameter.unit;
    const Cell name = "  " + split(parameter.path).second;
    const Cell shown = parameter.from == Setting::From::given    ? Cell(value, Colour::bold)
                       : parameter.from == Setting::From::family ? Cell("[" + value + "]", Colour::cyan)
                                                                 : Cell("(" + value + ")", Colour::dim);
    if (beside_) {
      table_.add({name, shown, parameter.meaning});
      if (!source.empty()) table_.add({"", "", {source, source_colour(parameter)}});
      return;
    }
    table_.add({name, shown});
    add_below(parameter.meaning, Colour::none);
    if (!source.empty()) add_below(source, source_colour(parameter));
  }
  void add_below(const std::string& text, Colour colour) {
    constexpr std::size_t kIndent = 8;
    table_.add_text(paragraph(text, kIndent, colour, paint_));
  }

  const Painter& paint_;
  bool beside_;
  Table table_;
};

// The changes to the machine's file since it was first written, the oldest first.
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

// The operating system's nodes: each one's CPUs, and the interconnect's nodes with its memory.
ordered_json os_nodes_json(const MachineSpec& machine) {
  const MachineLayout layout = lay_out(machine);
  ordered_json nodes = ordered_json::array();
  for (const std::vector<int>& memory : layout.memory_of_os_node)
    nodes.push_back({{"cpus", ordered_json::array()}, {"memory_of_nodes", memory}});
  for (std::size_t cpu = 0; cpu < layout.cpus.size(); ++cpu) nodes[layout.cpus[cpu].os_node]["cpus"].push_back(cpu);
  return nodes;
}

}  // namespace

std::string machine_page(const std::string& name, const Painter& paint) {
  const DescribedMachine machine = load_machine(name);
  ParameterTable table(paint);
  for (auto begin = machine.parameters.begin(); begin != machine.parameters.end();) {
    const std::string group = split(begin->path).first;
    const auto end = std::find_if(begin, machine.parameters.end(), [&group](const DescribedParameter& parameter) {
      return split(parameter.path).first != group;
    });
    table.add_group(group, {begin, end});
    begin = end;
  }
  const std::string out = titled(machine.spec.name, machine.spec.title, paint) + "\n" +
                          draw_topology(machine.spec, paint.columns()) + "\n" + table.text() +
                          history_text(machine.history, paint);
  return out + (machine.assumptions.empty() ? "" : "\n") + assumptions_text(machine.assumptions, paint);
}

ordered_json machine_json(const std::string& name) {
  const DescribedMachine machine = load_machine(name);
  ordered_json parameters = ordered_json::array();
  for (const DescribedParameter& parameter : machine.parameters) {
    ordered_json entry;
    entry["path"] = parameter.path;
    // Numbers, true and false become JSON values; everything else becomes a string.
    entry["value"] =
        ordered_json::accept(parameter.value) ? ordered_json::parse(parameter.value) : ordered_json(parameter.value);
    entry["unit"] = parameter.unit;
    entry["meaning"] = parameter.meaning;
    entry["source"] = parameter.source;
    entry["has_source"] = parameter.has_source;
    entry["given"] = parameter.from == Setting::From::given;
    entry["from_family"] = parameter.from == Setting::From::family;
    parameters.push_back(std::move(entry));
  }
  ordered_json out;
  out["name"] = machine.spec.name;
  out["title"] = machine.spec.title;
  out["cpus"] = machine.spec.cpus;
  out["contention"] = machine.spec.contention;
  out["os_nodes"] = os_nodes_json(machine.spec);
  out["assumptions"] = machine.assumptions;
  out["parameters"] = std::move(parameters);
  out["history"] = history_json(machine.history);
  return out;
}

}  // namespace linebounce::sim
