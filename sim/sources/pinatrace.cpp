// Reads the output of Pin's example tool pinatrace: "0xINSTRUCTION: R 0xADDRESS" or W, and "#eof" at the end.
#include "sim/sources/address_lines.hpp"
#include "sim/sources/line_file.hpp"

namespace linebounce::sim {
namespace {

using What = AddressLine::What;

std::optional<AddressLine> pinatrace_line(std::string_view text) {
  if (text.starts_with('#')) return AddressLine{};
  std::string_view instruction = take_word(text);
  const std::string_view what = take_word(text);
  const auto address = hexadecimal(take_word(text));
  if (!instruction.ends_with(':') || !address || !text.empty()) return std::nullopt;
  instruction.remove_suffix(1);
  if (!hexadecimal(instruction) || (what != "R" && what != "W")) return std::nullopt;
  return AddressLine{.what = what == "R" ? What::load : What::store, .address = *address};
}

constexpr AddressGrammar kPinatrace{
    .source = "pinatrace", .expected = "0xINSTRUCTION: R or W, and 0xADDRESS", .parse = pinatrace_line};

}  // namespace

Form pinatrace_form() {
  return {.name = "pinatrace",
          .what = "what Pin's tool pinatrace writes",
          .marks = "0xINSTRUCTION: R 0xADDRESS",
          .likeness = likeness_of(kPinatrace),
          .convert = convert_lines_of(kPinatrace),
          .joins_files = true};
}

}  // namespace linebounce::sim
