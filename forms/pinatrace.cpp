// Reads the output of Pin's example tools called pinatrace: "0xINSTRUCTION: R 0xADDRESS" or W, and "#eof" at the end. The one
// of SimpleExamples adds each access's size in bytes, and its value: "0xINSTRUCTION: R 0xADDRESS  8  0x1234". Tools derived
// from them separate the same cells by commas.
#include <algorithm>

#include "forms/address_lines.hpp"
#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

using What = AddressLine::What;

// A value may have more than 64 bits.
bool hexadecimal_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF") == text.npos;
}

std::string_view take_pin_cell(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(" \t,"), text.size());
  const std::string_view cell = text.substr(0, end);
  text = text.substr(std::min(text.find_first_not_of(" \t,", end), text.size()));
  return cell;
}

std::optional<AddressLine> pinatrace_line(std::string_view text) {
  if (text.starts_with('#')) return AddressLine{};
  std::string_view instruction = take_pin_cell(text);
  const std::string_view what = take_pin_cell(text);
  const auto address = hexadecimal(take_pin_cell(text));
  const auto bytes = text.empty() ? std::optional<std::uint64_t>(0) : decimal(take_pin_cell(text));
  const bool has_value = !text.empty() && text.starts_with("0x") && hexadecimal_digits(text.substr(2));
  if (!address || !bytes || (!text.empty() && !has_value)) return std::nullopt;
  // Without 0x, as on Windows, an address has all its digits, and a colon behind them. "c0:" is a CPU.
  constexpr std::size_t kFewestDigits = 8;
  const bool has_colon = instruction.ends_with(':');
  if (has_colon) instruction.remove_suffix(1);
  if (!instruction.starts_with("0x") && (!has_colon || instruction.size() < kFewestDigits)) return std::nullopt;
  if (!hexadecimal(instruction) || (what != "R" && what != "W")) return std::nullopt;
  return AddressLine{.what = what == "R" ? What::load : What::store, .address = *address, .bytes = *bytes};
}

constexpr AddressGrammar kPinatrace{
    .source = "pinatrace", .expected = "0xINSTRUCTION: R or W, and 0xADDRESS", .parse = pinatrace_line, .is_virtual = true};

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
