// Reads the output of Pin's example tools called pinatrace: "0xINSTRUCTION: R 0xADDRESS" or W, and "#eof" at the end. The one
// of SimpleExamples adds each access's size in bytes, and its value: "0xINSTRUCTION: R 0xADDRESS  8  0x1234".
#include "sim/sources/address_lines.hpp"
#include "sim/sources/line_file.hpp"

namespace linebounce::sim {
namespace {

using What = AddressLine::What;

// A value may have more than 64 bits.
bool hexadecimal_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF") == text.npos;
}

std::optional<AddressLine> pinatrace_line(std::string_view text) {
  if (text.starts_with('#')) return AddressLine{};
  std::string_view instruction = take_word(text);
  const std::string_view what = take_word(text);
  const auto address = hexadecimal(take_word(text));
  const auto bytes = text.empty() ? std::optional<std::uint64_t>(0) : decimal(take_word(text));
  const bool has_value = !text.empty() && text.starts_with("0x") && hexadecimal_digits(text.substr(2));
  if (!instruction.ends_with(':') || !address || !bytes || (!text.empty() && !has_value)) return std::nullopt;
  instruction.remove_suffix(1);
  if (!hexadecimal(instruction) || (what != "R" && what != "W")) return std::nullopt;
  return AddressLine{.what = what == "R" ? What::load : What::store, .address = *address, .bytes = *bytes};
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
