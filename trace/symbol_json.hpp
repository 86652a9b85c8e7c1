// Symbols and the summary as JSON, as stored in the binary form.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "trace/summary.hpp"
#include "trace/symbols.hpp"

namespace linebounce::trace {

// An error in a text, without its place: the reader that rethrows it knows the file and the place.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One line without its newline: {"kind":"lock","name":"dcache_lock",...}. Omits members with default values; bytes that are not
// UTF-8 become U+FFFD.
std::string symbol_line(const Symbol& symbol);
// The same for facts that replace those of `lock`: {"kind":"lock","redefines":3,...}.
std::string redefinition_line(std::uint32_t lock, const Lock& facts);
std::string summary_text(const Summary& summary);

// Adds what a line defines. Errors: FormatError for malformed JSON, unknown or mistyped members, and references to nothing
// (complaint() in symbols.hpp).
void define_line(Symbols& symbols, std::string_view line);
Summary read_summary(std::string_view text);

}  // namespace linebounce::trace
