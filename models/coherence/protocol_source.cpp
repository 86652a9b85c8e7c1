#include "models/coherence/protocol_source.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>

namespace linebounce {
namespace {

using Columns = std::vector<std::string>;
const Columns kPropertyColumns = {"property", "value"};
const Columns kMessageColumns = {"message", "data", "meaning"};
const Columns kNetworkMessageColumns = {"message", "class", "data", "meaning"};
const Columns kStateColumns = {"state", "meaning"};
const Columns kEventColumns = {"event", "meaning"};
const Columns kTransitionColumns = {"in", "on", "do", "then", "why"};

bool is_name(const std::string& text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto part = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), part);
}

class SourceReader {
 public:
  SourceReader(const MarkdownDocument& document, Diagnostics& diagnostics) : document_(document), diagnostics_(diagnostics) {}

  ProtocolSource read() {
    ProtocolSource source;
    source.title = document_.title;
    source.properties_line = document_.title_line;
    const MarkdownSection& preamble = document_.sections.front();
    check_tables(preamble, {kPropertyColumns}, document_.title_line);
    source.properties = declarations(preamble, kPropertyColumns);
    source.kind = kind();
    if (source.kind != ProtocolKind::node && source.kind != ProtocolKind::group) read_messages(source);
    switch (source.kind) {
      case ProtocolKind::bus:
        source.cache = controller("cache");
        source.memory = controller("memory");
        break;
      case ProtocolKind::directory:
        if (has_section("cache")) source.cache = controller("cache");
        source.directory = controller("directory");
        break;
      case ProtocolKind::node: source.node = controller("node"); break;
      case ProtocolKind::group: source.group = controller("group"); break;
    }
    return source;
  }

 private:
  [[nodiscard]] bool has_section(const std::string& name) const {
    return std::any_of(document_.sections.begin(), document_.sections.end(),
                       [&name](const MarkdownSection& section) { return section.name == name; });
  }
  [[nodiscard]] ProtocolKind kind() const {
    if (has_section("node")) return ProtocolKind::node;
    if (has_section("group")) return ProtocolKind::group;
    return has_section("directory") ? ProtocolKind::directory : ProtocolKind::bus;
  }

  void read_messages(ProtocolSource& source) {
    const MarkdownSection* section = find_section("Messages");
    if (section == nullptr) return;
    const Columns& columns = source.kind == ProtocolKind::bus ? kMessageColumns : kNetworkMessageColumns;
    source.messages_line = section->line;
    check_tables(*section, {columns}, section->line);
    source.messages = declarations(*section, columns);
  }

  const MarkdownSection* find_section(const std::string& name) {
    const MarkdownSection* found = nullptr;
    for (const MarkdownSection& section : std::span(document_.sections).subspan(1)) {
      if (section.name != name) continue;
      if (found != nullptr) {
        diagnostics_.error(section.line, fmt::format("a second section '## {}'; the first is in line {}", name, found->line));
      } else {
        found = &section;
      }
    }
    if (found == nullptr) {
      diagnostics_.error(document_.title_line,
                         fmt::format("no section '## {}'; a protocol has '## Messages', '## cache' and '## memory' (a bus) or "
                                     "'## directory' (a network), or a '## node' or '## group' alone",
                                     name));
    }
    return found;
  }

  ControllerSource controller(const std::string& name) {
    ControllerSource result;
    result.name = name;
    const MarkdownSection* section = find_section(name);
    if (section == nullptr) return result;
    result.line = section->line;
    check_tables(*section, {kStateColumns, kEventColumns, kTransitionColumns}, section->line);
    result.states = declarations(*section, kStateColumns);
    result.events = declarations(*section, kEventColumns);
    for (const MarkdownTable& table : section->tables) {
      if (table.header.cells != kTransitionColumns) continue;
      for (const MarkdownRow& row : table.rows) {
        const std::vector<std::string>& cells = row.cells;
        result.transitions.push_back({row.line, cells[0], cells[1], cells[2], cells[3], cells[4]});
        if (cells[4].empty()) diagnostics_.error(row.line, fmt::format("{}: this row doesn't say why", name));
      }
    }
    return result;
  }

  // Every table of the section has one of these headers, and each header has a table.
  void check_tables(const MarkdownSection& section, const std::vector<Columns>& expected, int section_line) {
    std::string forms;
    for (const Columns& columns : expected)
      forms += fmt::format("{}| {} |", forms.empty() ? "" : ", ", fmt::join(columns, " | "));
    std::set<Columns> seen;
    bool all_expected = true;
    for (const MarkdownTable& table : section.tables) {
      seen.insert(table.header.cells);
      if (std::find(expected.begin(), expected.end(), table.header.cells) != expected.end()) continue;
      all_expected = false;
      diagnostics_.error(table.header.line, fmt::format("a table with the columns '{}'; the tables of this section have {}",
                                                        fmt::join(table.header.cells, " | "), forms));
    }
    for (const Columns& columns : expected) {
      if (seen.contains(columns) || !all_expected) continue;
      const std::string where = section.name.empty() ? "the text below the title" : "'## " + section.name + "'";
      diagnostics_.error(section_line, fmt::format("{} has no table | {} |", where, fmt::join(columns, " | ")));
    }
  }

  std::vector<Declaration> declarations(const MarkdownSection& section, const Columns& columns) {
    std::vector<Declaration> result;
    for (const MarkdownTable& table : section.tables) {
      if (table.header.cells != columns) continue;
      for (const MarkdownRow& row : table.rows) {
        Declaration declaration{row.line, row.cells[0], columns.size() > 2 ? row.cells[columns.size() - 2] : "",
                                row.cells.back()};
        if (columns.size() == 4) declaration.message_class = row.cells[1];
        if (columns == kEventColumns) separate_guard(declaration);
        if (accept(declaration, columns[0], result)) result.push_back(std::move(declaration));
      }
    }
    return result;
  }

  // "Own_GetS [shared|alone]" is the name Own_GetS with the guard group shared|alone.
  void separate_guard(Declaration& event) {
    const std::size_t bracket = event.name.find('[');
    if (bracket == std::string::npos) return;
    if (!event.name.ends_with(']')) {
      diagnostics_.error(event.line,
                         fmt::format("event '{}': a guard group is written in brackets, [shared\\|alone]", event.name));
    } else {
      event.detail = event.name.substr(bracket + 1, event.name.size() - bracket - 2);
    }
    event.name = std::string(trimmed(std::string_view(event.name).substr(0, bracket)));
  }

  bool accept(const Declaration& declaration, const std::string& kind, const std::vector<Declaration>& earlier) {
    if (!is_name(declaration.name)) {
      diagnostics_.error(declaration.line,
                         fmt::format("'{}' can't be the name of a {}: use letters, digits and _", declaration.name, kind));
      return false;
    }
    for (const Declaration& other : earlier) {
      if (other.name != declaration.name) continue;
      diagnostics_.error(declaration.line,
                         fmt::format("{} '{}' is declared twice; the first is in line {}", kind, declaration.name, other.line));
      return false;
    }
    if (declaration.meaning.empty()) {
      diagnostics_.error(declaration.line, fmt::format("{} '{}': the last column is empty", kind, declaration.name));
    }
    return true;
  }

  const MarkdownDocument& document_;
  Diagnostics& diagnostics_;
};

}  // namespace

ProtocolSource read_protocol_source(const MarkdownDocument& document, Diagnostics& diagnostics) {
  return SourceReader(document, diagnostics).read();
}

}  // namespace linebounce
