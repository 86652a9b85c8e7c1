// Symbols and the summary as JSON, which the binary form stores.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "trace/summary.hpp"
#include "trace/symbols.hpp"

namespace linebounce::trace {

// An error in a text. Has no place: the reader that catches it adds the file and the place.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One line without a newline: {"kind":"lock","name":"dcache_lock",...}. Omits members with default values. Bytes that are not
// UTF-8 become U+FFFD.
std::string symbol_line(const Symbol& symbol);
// A line with facts that replace those of `lock`: {"kind":"lock","redefines":3,...}.
std::string redefinition_line(std::uint32_t lock, const Lock& facts);
std::string summary_text(const Summary& summary);

// Adds the symbol or facts in a line to `symbols`. Errors: FormatError for malformed JSON, unknown or mistyped members, and
// references to undefined symbols (complaint() in symbols.hpp).
void define_line(Symbols& symbols, std::string_view line);
Summary read_summary(std::string_view text);

}  // namespace linebounce::trace
