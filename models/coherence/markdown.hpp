// Reads the parts of Markdown that matter in a protocol file: headings and tables, with their line numbers. Skips prose and
// fenced code blocks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/coherence/diagnostics.hpp"

namespace linebounce {

struct MarkdownRow {
  int line = 0;
  std::vector<std::string> cells;  // trimmed; a bar that the file writes as \| is a plain bar here
};

struct MarkdownTable {
  MarkdownRow header;
  std::vector<MarkdownRow> rows;  // each row has as many cells as the header
};

// A second-level heading and the tables between it and the next second-level heading. Deeper headings are ignored.
struct MarkdownSection {
  std::string name;
  int line = 0;
  std::vector<MarkdownTable> tables;
};

struct MarkdownDocument {
  std::string title;
  int title_line = 1;
  int last_line = 0;
  std::vector<MarkdownSection> sections;  // the first has no name and holds what precedes all second-level headings
};

// Reads a Markdown file whose first line has the number `first_line`. Reports into `diagnostics`: an empty file, a file that is
// not text, a missing title, a table row with too many or too few cells.
MarkdownDocument read_markdown(std::string_view text, int first_line, Diagnostics& diagnostics);

// The parts of `text` between separators, each trimmed.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace linebounce
