// Reads the traces of CADSS, the simulator of Carnegie Mellon's courses 15-346 and 18-740, one file per processor: "L
// ADDRESS,SIZE" and "S ADDRESS,SIZE", perhaps with a register behind, and instructions without an access: "A PC REGISTERS", "X
// PC REGISTERS" (a long one) and "B PC NEXT".
#include <algorithm>

#include "forms/address_lines.hpp"
#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

using What = AddressLine::What;

constexpr std::size_t kRegisters = 3;

// A register's number, or -1 for none.
bool is_register(std::string_view word) {
  return word == "-1" || decimal(word);
}

// "D, S, S": three registers with commas between them.
bool are_registers(std::string_view text) {
  for (std::size_t i = 0; i < kRegisters; ++i) {
    const std::size_t comma = i + 1 < kRegisters ? text.find(',') : text.size();
    if (comma == text.npos || !is_register(stripped(text.substr(0, comma)))) return false;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return true;
}

std::optional<AddressLine> instruction_without_access(std::string_view kind, std::string_view text) {
  if (!hexadecimal(take_word(text))) return std::nullopt;
  if (kind == "B" ? !hexadecimal(take_word(text)) || (!text.empty() && !is_register(text)) : !are_registers(text))
    return std::nullopt;
  return AddressLine{.what = What::fetch};
}

std::optional<AddressLine> cadss_access(What what, std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == text.npos) return std::nullopt;
  const auto address = hexadecimal(stripped(text.substr(0, comma)));
  std::string_view behind = stripped(text.substr(comma + 1));
  const auto bytes = decimal(take_word(behind));
  if (!address || !bytes || *bytes == 0 || (!behind.empty() && !is_register(behind))) return std::nullopt;
  return AddressLine{.what = what, .address = *address, .bytes = *bytes, .instructions = 1};
}

std::optional<AddressLine> cadss_line(std::string_view text) {
  const std::string_view kind = take_word(text);
  if (kind == "L") return cadss_access(What::load, text);
  if (kind == "S") return cadss_access(What::store, text);
  if (kind == "A" || kind == "X" || kind == "B") return instruction_without_access(kind, text);
  return std::nullopt;
}

constexpr AddressGrammar kCadss{
    .source = "CADSS",
    .expected =
        "L or S, a hexadecimal address, a comma, a size and perhaps a register; A or X, an address and three registers; "
        "or B and two addresses",
    .parse = cadss_line,
    .has_sizes = true,
    .is_virtual = true};

// Lines with L and S alone and no registers are Lackey's as well, and mean the same there.
bool is_of_cadss_alone(std::string_view text) {
  const auto line = cadss_line(text);
  if (!line) return false;
  take_word(text);
  std::string_view behind = stripped(text.substr(text.find(',') + 1));
  take_word(behind);
  return line->what == What::fetch || !behind.empty();
}

Likeness cadss_likeness(const Excerpt& excerpt) {
  const Likeness likeness = likeness_of(kCadss)(excerpt);
  const bool alone = std::ranges::any_of(excerpt.lines, [](const Excerpt::Line& line) { return is_of_cadss_alone(line.text); });
  return likeness.fits() && !alone ? Likeness{} : likeness;
}

}  // namespace

Form cadss_form() {
  return {.name = "cadss",
          .what = "traces of CADSS, a file for each processor",
          .marks = "L ADDRESS,SIZE REGISTER; S; A PC D, S, S; X; B PC NEXT",
          .likeness = cadss_likeness,
          .convert = convert_lines_of(kCadss),
          .joins_files = true};
}

}  // namespace linebounce::sim
