#include "models/coherence/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/text/trimmed.hpp"
#include "models/text/visible.hpp"

namespace linebounce {
namespace {

// Row::source_line stores a line number in 16 bits.
constexpr int kMaxLines = 65535;

// True for UTF-8 without control characters other than tabs and line ends.
bool is_text(std::string_view text) {
  const auto controls = [](char c) { return c >= 0 && c < 0x20 && c != '\n' && c != '\r' && c != '\t'; };
  return is_utf8(text) && std::none_of(text.begin(), text.end(), controls);
}

std::vector<std::string> table_cells(std::string_view line) {
  line.remove_prefix(1);  // removes the leading bar
  const bool closed = line.ends_with('|');
  std::vector<std::string> cells(1);
  for (;;) {
    const std::size_t bar = std::min(line.find('|'), line.size());
    const bool is_escaped = bar < line.size() && line.substr(0, bar).ends_with('\\');
    cells.back() += line.substr(0, is_escaped ? bar - 1 : bar);
    if (bar == line.size()) break;
    if (is_escaped) {
      cells.back() += '|';
    } else {
      cells.emplace_back();
    }
    line.remove_prefix(bar + 1);
  }
  if (closed) cells.pop_back();  // removes the empty cell after the closing bar
  for (std::string& cell : cells) cell = std::string(trimmed(cell));
  return cells;
}

bool is_separator(const std::vector<std::string>& cells) {
  return std::all_of(cells.begin(), cells.end(), [](const std::string& cell) {
    return !cell.empty() && cell.find_first_not_of("-:") == std::string::npos;
  });
}

// Builds a MarkdownDocument from a file's lines, which the caller passes to take() one by one.
class Reader {
 public:
  Reader(int first_line, Diagnostics& diagnostics) : diagnostics_(diagnostics), first_line_(first_line) {
    document_.title_line = first_line;
    document_.sections.emplace_back();
  }

  void take(std::string_view line) {
    ++line_;
    line = trimmed(line);
    const bool fence = line.starts_with("```") || line.starts_with("~~~");
    if (fence) in_fence_ = !in_fence_;
    if (fence || in_fence_) {
      table_ = Table::none;
    } else if (line.starts_with('|')) {
      take_table_line(table_cells(line));
    } else {
      table_ = Table::none;
      if (line.starts_with('#')) take_heading(line);
    }
  }

  MarkdownDocument finish() {
    if (document_.title.empty()) diagnostics_.error(first_line_, "no title: a protocol file begins with a heading '# NAME'");
    document_.last_line = line_;
    return std::move(document_);
  }

 private:
  enum class Table { none, header, body };

  void take_heading(std::string_view line) {
    const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
    const std::string name(trimmed(line.substr(level)));
    if (level == 1 && document_.title.empty()) {
      document_.title = name;
      document_.title_line = line_;
    } else if (level <= 2) {
      document_.sections.push_back({name, line_, {}});
    }
  }

  void take_table_line(std::vector<std::string> cells) {
    std::vector<MarkdownTable>& tables = document_.sections.back().tables;
    switch (table_) {
      case Table::none:
        tables.push_back({{line_, std::move(cells)}, {}});
        table_ = Table::header;
        return;
      case Table::header:
        table_ = Table::body;
        if (is_separator(cells) && cells.size() == tables.back().header.cells.size()) return;
        diagnostics_.error(line_, "the line below a table's header must be |---|---|, one for each column");
        return;
      case Table::body: break;
    }
    const std::size_t columns = tables.back().header.cells.size();
    if (cells.size() != columns) {
      diagnostics_.error(
          line_, fmt::format("{} cells in a table of {} columns (a bar inside a cell is written \\|)", cells.size(), columns));
      return;
    }
    tables.back().rows.push_back({line_, std::move(cells)});
  }

  Diagnostics& diagnostics_;
  MarkdownDocument document_;
  int first_line_;
  int line_ = first_line_ - 1;
  bool in_fence_ = false;
  Table table_ = Table::none;
};

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t start = 0;;) {
    const std::size_t end = text.find(separator, start);
    parts.emplace_back(trimmed(text.substr(start, end == std::string_view::npos ? end : end - start)));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

MarkdownDocument read_markdown(std::string_view text, int first_line, Diagnostics& diagnostics) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // removes a byte order mark
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    diagnostics.error(first_line, "the file is empty; a protocol is a Markdown file with tables");
    return {};
  }
  if (!is_text(text)) {
    diagnostics.error(first_line, "the file is not UTF-8 text; a protocol is a Markdown file with tables");
    return {};
  }
  if (first_line - 1 + std::count(text.begin(), text.end(), '\n') >= kMaxLines) {
    diagnostics.error(kMaxLines, fmt::format("the file has more than {} lines{}", kMaxLines,
                                             first_line > 1 ? ", with those that extend it" : ""));
    return {};
  }
  Reader reader(first_line, diagnostics);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    reader.take(text.substr(start, end - start));
    start = end + 1;
  }
  return reader.finish();
}

}  // namespace linebounce
