// What --help prints, as wide as the terminal.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class FormatterBase;
}  // namespace CLI

namespace linebounce::sim {

// For a text of `width` columns.
std::shared_ptr<CLI::FormatterBase> help_formatter(std::size_t width);

// The text below the options: paragraphs, and examples, lines of "  COMMAND    what it does". Paragraphs are broken at
// `width`; where an example is too long for it, the words of its group stand below the commands.
std::string help_footer(std::string_view text, std::size_t width);

}  // namespace linebounce::sim
