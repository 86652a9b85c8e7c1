// Symbols and the summary as JSON: what the binary form holds of them.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "trace/summary.hpp"
#include "trace/symbols.hpp"

namespace linebounce::trace {

// What is wrong with a text, without where: the reader that throws it on knows the file and the place.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One line without its end: {"kind":"lock","name":"dcache_lock",...}. Members that have their default are left out; bytes that
// are not UTF-8 become U+FFFD.
std::string symbol_line(const Symbol& symbol);
// The same for a lock's facts that replace those of `lock`: {"kind":"lock","redefines":3,...}.
std::string redefinition_line(std::uint32_t lock, const Lock& facts);
std::string summary_text(const Summary& summary);

// Adds what a line says. Errors: FormatError, of JSON that is none, members that are unknown or have another type, and what
// refers to nothing (complaint() of symbols.hpp).
void define_line(Symbols& symbols, std::string_view line);
Summary read_summary(std::string_view text);

}  // namespace linebounce::trace
