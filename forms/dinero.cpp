// Dinero's din format: a line per access, "LABEL ADDRESS" in hexadecimal; the rest of a line is a comment. Source: University
// of Surrey, CS250, "Dinero File Format".
#include "forms/address_lines.hpp"
#include "forms/line_file.hpp"
#include "forms/operation_words.hpp"

namespace linebounce::sim {
namespace {

using What = AddressLine::What;

// Label 3 (an unknown access) and 4 (a cache flush) are escapes.
std::optional<AddressLine> dinero_line(std::string_view text) {
  constexpr std::array kLabels = {What::load, What::store, What::fetch, What::nothing, What::nothing};
  const auto label = decimal(take_word(text));
  const auto address = hexadecimal(take_word(text));
  // The rest of the line is a comment. A lone r or w there means another format, "CPU ADDRESS r".
  if (!label || *label >= kLabels.size() || !address || read_or_write(text)) return std::nullopt;
  return AddressLine{.what = kLabels[*label], .address = *address};
}

// To recognise the format, a comment that begins with a number or with r or w is none: such a line may belong to a matrix, or
// to a trace whose lines begin with a CPU or a time.
std::optional<AddressLine> dinero_line_without_figures(std::string_view text) {
  std::string_view comment = text;
  for (int word = 0; word < 2; ++word) take_word(comment);
  const std::string_view word = take_word(comment);
  const bool is_figure = decimal(word) || (word.starts_with("0x") && hexadecimal(word)) || read_or_write(word);
  return is_figure ? std::nullopt : dinero_line(text);
}

// The format has no access sizes; Dinero's accesses are words of 4 bytes.
constexpr AddressGrammar kDinero{
    .source = "Dinero",
    .expected = "a label (0 read, 1 write, 2 instruction, 3 and 4 escapes) and a hexadecimal address",
    .parse = dinero_line,
    .word_bytes = 4};

}  // namespace

Form dinero_form() {
  AddressGrammar recognised = kDinero;
  recognised.parse = dinero_line_without_figures;
  return {.name = "dinero",
          .what = "Dinero's .din",
          .marks = "LABEL ADDRESS, with labels 0 to 4",
          .likeness = likeness_of(recognised),
          .convert = convert_lines_of(kDinero),
          .extension = ".din",
          .joins_files = true};
}

}  // namespace linebounce::sim
