// What --help prints, as wide as the terminal.
#pragma once

#include <cstddef>
#include <memory>

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class FormatterBase;
}  // namespace CLI

namespace linebounce::sim {

// For a text of `width` columns.
std::shared_ptr<CLI::FormatterBase> help_formatter(std::size_t width);

}  // namespace linebounce::sim
