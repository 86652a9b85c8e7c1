#include "models/coherence/protocol_source.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "models/text/trimmed.hpp"

namespace linebounce {
namespace {

using Columns = std::vector<std::string>;
const Columns kPropertyColumns = {"property", "value"};
const Columns kMessageColumns = {"message", "data", "meaning"};
const Columns kNetworkMessageColumns = {"message", "class", "data", "meaning"};
const Columns kStateColumns = {"state", "meaning"};
const Columns kEventColumns = {"event", "meaning"};
const Columns kTransitionColumns = {"in", "on", "do", "then", "why"};
const Columns kWithoutColumns = {"without", "why"};

// The names of the controllers' sections, indexed by Controller.
constexpr std::array<const char*, kControllers> kControllerNames = {"cache", "memory", "directory", "node", "group"};

std::vector<Controller> controllers_of(ProtocolKind kind) {
  switch (kind) {
    case ProtocolKind::bus: return {Controller::cache, Controller::memory};
    case ProtocolKind::directory: return {Controller::cache, Controller::directory};
    case ProtocolKind::node: return {Controller::node};
    case ProtocolKind::group: break;
  }
  return {Controller::group};
}

bool is_name(const std::string& text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto part = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), part);
}

class SourceReader {
 public:
  SourceReader(const MarkdownDocument& document, const ProtocolSource* base, Diagnostics& diagnostics)
      : document_(document), base_(base), diagnostics_(diagnostics) {}

  ProtocolSource read() {
    ProtocolSource source = base_ != nullptr ? *base_ : ProtocolSource{};
    source.title = document_.title;
    source.properties_line = document_.title_line;
    const MarkdownSection& preamble = document_.sections.front();
    check_tables(preamble, {kPropertyColumns}, document_.title_line);
    read_declarations(preamble, kPropertyColumns, source.properties);
    if (base_ != nullptr) {
      std::erase_if(source.properties, [](const Declaration& property) { return property.name == "extends"; });
    } else {
      source.kind = kind();
    }
    if (source.kind != ProtocolKind::node && source.kind != ProtocolKind::group) read_messages(source);
    read_controllers(source);
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

  // Reads each controller's section. A directory protocol may lack '## cache' if all its agents are node controllers.
  void read_controllers(ProtocolSource& source) {
    const std::vector<Controller> expected = controllers_of(source.kind);
    for (std::size_t i = 0; i < kControllers; ++i) {
      const std::string name = kControllerNames[i];
      const bool here = has_section(name), optional = source.kind == ProtocolKind::directory && name == "cache";
      if (std::find(expected.begin(), expected.end(), static_cast<Controller>(i)) != expected.end()) {
        if (here || !optional) read_controller(name, source.kind, source.controllers[i]);
      } else if (here && base_ != nullptr) {
        diagnostics_.error(find_section(name)->line, fmt::format("the protocol that this one extends has no '## {}'", name));
      }
    }
  }

  void read_messages(ProtocolSource& source) {
    const MarkdownSection* section = find_section("Messages");
    if (section == nullptr) return;
    const Columns& columns = source.kind == ProtocolKind::bus ? kMessageColumns : kNetworkMessageColumns;
    source.messages_line = section->line;
    check_tables(*section, {columns}, section->line);
    for_gone(*section, [&](const std::string& gone, int line) { remove(gone, {&source.messages}, line); });
    read_declarations(*section, columns, source.messages);
  }

  const MarkdownSection* find_section(const std::string& name) {
    const MarkdownSection* found = nullptr;
    for (const MarkdownSection& section : std::span(document_.sections).subspan(1)) {
      if (section.name != name) continue;
      if (found != nullptr) {
        diagnostics_.error(section.line, fmt::format("a second section '## {}'; the first is in line {}", name,
                                                     diagnostics_.line_in_file(found->line)));
      } else {
        found = &section;
      }
    }
    if (found == nullptr && base_ == nullptr) {
      diagnostics_.error(document_.title_line,
                         fmt::format("no section '## {}'; a protocol has '## Messages', '## cache' and '## memory' (a bus) or "
                                     "'## directory' (a network), or a '## node' or '## group' alone",
                                     name));
    }
    return found;
  }

  void read_controller(const std::string& name, ProtocolKind kind, ControllerSource& result) {
    const MarkdownSection* section = find_section(name);
    if (section == nullptr) return;
    result.name = name;
    result.line = section->line;
    check_tables(*section, {kStateColumns, kEventColumns, kTransitionColumns}, section->line);
    bool dropped = false;
    for_gone(*section, [&](const std::string& gone, int line) {
      if (gone == "cache" && kind == ProtocolKind::directory && !result.states.empty()) {
        dropped = true;
      } else if (remove(gone, {&result.states, &result.events}, line)) {
        result.without.push_back({line, gone, "", ""});
      }
    });
    read_declarations(*section, kStateColumns, result.states);
    read_declarations(*section, kEventColumns, result.events);
    std::vector<WrittenRow> transitions;
    for_rows(*section, kTransitionColumns, [&](const MarkdownRow& row) {
      const std::vector<std::string>& cells = row.cells;
      transitions.push_back({row.line, cells[0], cells[1], cells[2], cells[3], cells[4]});
      if (cells[4].empty()) diagnostics_.error(row.line, fmt::format("{}: this row doesn't say why", name));
    });
    result.transitions.insert(result.transitions.begin(), transitions.begin(), transitions.end());
    if (dropped) result = {};
  }

  template <class Visit>
  static void for_rows(const MarkdownSection& section, const Columns& columns, Visit visit) {
    for (const MarkdownTable& table : section.tables) {
      for (const MarkdownRow& row : table.rows) {
        if (table.header.cells == columns) visit(row);
      }
    }
  }

  // Calls visit(name, line) for each name in the first column of the section's tables | without | why |.
  template <class Visit>
  void for_gone(const MarkdownSection& section, Visit visit) {
    for_rows(section, kWithoutColumns, [&](const MarkdownRow& row) {
      if (row.cells[1].empty()) diagnostics_.error(row.line, fmt::format("{}: this row doesn't say why", section.name));
      for (const std::string& name : split(row.cells[0], ',')) visit(name, row.line);
    });
  }

  bool remove(const std::string& name, std::initializer_list<std::vector<Declaration>*> inherited, int line) {
    std::vector<std::string> known;
    for (std::vector<Declaration>* const declared : inherited) {
      if (std::erase_if(*declared, [&name](const Declaration& each) { return each.name == name; }) > 0) return true;
      for (const Declaration& each : *declared) known.push_back(each.name);
    }
    diagnostics_.error(line, fmt::format("'{}' is not inherited, so it can't be left out{}", name, hint(name, known)));
    return false;
  }

  // Reports each table of the section whose columns are not in `expected`. If the file extends no other, also reports expected
  // columns without a table.
  void check_tables(const MarkdownSection& section, std::vector<Columns> expected, int section_line) {
    if (base_ != nullptr && !section.name.empty()) expected.push_back(kWithoutColumns);
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
      if (seen.contains(columns) || !all_expected || base_ != nullptr) continue;
      const std::string where = section.name.empty() ? "the text below the title" : "'## " + section.name + "'";
      diagnostics_.error(section_line, fmt::format("{} has no table | {} |", where, fmt::join(columns, " | ")));
    }
  }

  // Merges the section's declarations into `declared`, the inherited ones. A declaration replaces the inherited one of the same
  // name. A new name is inserted after the declaration above it in the file's table. To insert a new name after an inherited
  // one, the file repeats the inherited name with `=` in all other columns.
  void read_declarations(const MarkdownSection& section, const Columns& columns, std::vector<Declaration>& declared) {
    std::size_t place = declared.size();
    for_rows(section, columns, [&](const MarkdownRow& row) {
      Declaration own{row.line, row.cells[0], columns.size() > 2 ? row.cells[columns.size() - 2] : "", row.cells.back()};
      if (columns.size() == 4) own.message_class = row.cells[1];
      if (columns == kEventColumns) separate_guard(own);
      const auto other =
          std::find_if(declared.begin(), declared.end(), [&](const auto& each) { return each.name == own.name; });
      const bool inherited = other != declared.end() && other->line > document_.last_line;
      if (!accept(own, columns[0], inherited || other == declared.end() ? nullptr : &*other)) return;
      if (!inherited) {
        if (base_ != nullptr && own.meaning == "=")
          diagnostics_.error(row.line, fmt::format("{} '{}' is not inherited, so '=' says nothing", columns[0], own.name));
        declared.insert(declared.begin() + static_cast<std::ptrdiff_t>(place++), std::move(own));
        return;
      }
      place = static_cast<std::size_t>(other - declared.begin()) + 1;
      if (std::all_of(row.cells.begin() + 1, row.cells.end(), [](const std::string& cell) { return cell == "="; })) return;
      if (own.detail == other->detail && own.meaning == other->meaning && own.message_class == other->message_class) {
        diagnostics_.error(row.line, fmt::format("{} '{}' is inherited just so: leave it out", columns[0], own.name));
      }
      *other = std::move(own);
    });
  }

  // Splits "Own_GetS [shared|alone]" into the name Own_GetS and the guard group shared|alone, which goes into `detail`.
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

  // Checks a declaration. Returns false if it can't be used. `earlier`: the file's earlier declaration of the name, or null.
  bool accept(const Declaration& declaration, const std::string& kind, const Declaration* earlier) {
    if (!is_name(declaration.name)) {
      diagnostics_.error(declaration.line,
                         fmt::format("'{}' can't be the name of a {}: use letters, digits and _", declaration.name, kind));
      return false;
    }
    if (earlier != nullptr) {
      diagnostics_.error(declaration.line, fmt::format("{} '{}' is declared twice; the first is in line {}", kind,
                                                       declaration.name, diagnostics_.line_in_file(earlier->line)));
      return false;
    }
    if (declaration.meaning.empty()) {
      diagnostics_.error(declaration.line, fmt::format("{} '{}': the last column is empty", kind, declaration.name));
    }
    return true;
  }

  const MarkdownDocument& document_;
  const ProtocolSource* base_;
  Diagnostics& diagnostics_;
};

}  // namespace

ProtocolSource read_protocol_source(const MarkdownDocument& document, const ProtocolSource* base, Diagnostics& diagnostics) {
  return SourceReader(document, base, diagnostics).read();
}

}  // namespace linebounce
