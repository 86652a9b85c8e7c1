// The part of Markdown that a protocol file is made of: headings and tables, with their line numbers. Prose is skipped, and so
// is everything in a fenced code block.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/coherence/diagnostics.hpp"

namespace linebounce {

struct MarkdownRow {
  int line = 0;
  std::vector<std::string> cells;  // trimmed; \| stands for a bar inside a cell
};

struct MarkdownTable {
  MarkdownRow header;
  std::vector<MarkdownRow> rows;  // each with as many cells as the header
};

// A second-level heading and the tables below it, up to the next one. Deeper headings only structure the prose.
struct MarkdownSection {
  std::string name;
  int line = 0;
  std::vector<MarkdownTable> tables;
};

struct MarkdownDocument {
  std::string title;
  int title_line = 1;
  int last_line = 0;
  std::vector<MarkdownSection> sections;  // the first one is what stands before any second-level heading; it has no name
};

// Errors, into `diagnostics`: a file that is empty or no text, no title, a table row with too many or too few cells.
// `first_line`: the number of its first line.
MarkdownDocument read_markdown(std::string_view text, int first_line, Diagnostics& diagnostics);

// `text` without the blanks around it.
std::string_view trimmed(std::string_view text);

// The parts of `text` between separators, trimmed.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace linebounce
