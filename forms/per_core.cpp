// Reads traces of coherence assignments, one file per core. "0 ADDRESS" loads, "1 ADDRESS" stores, "2 CYCLES" computes;
// numbers are hexadecimal.
#include "forms/address_lines.hpp"
#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

using What = AddressLine::What;

std::optional<AddressLine> per_core_line(std::string_view text) {
  const std::string_view label = take_word(text);
  const auto value = hexadecimal(take_word(text));
  if (!value || !text.empty()) return std::nullopt;
  if (label == "0") return AddressLine{.what = What::load, .address = *value};
  if (label == "1") return AddressLine{.what = What::store, .address = *value};
  if (label == "2") return AddressLine{.what = What::compute, .address = *value};
  return std::nullopt;
}

constexpr AddressGrammar kPerCore{.source = "A per-core trace",
                                  .expected = "0 ADDRESS (load), 1 ADDRESS (store) or 2 CYCLES (compute), hexadecimal",
                                  .parse = per_core_line,
                                  .word_bytes = 4,
                                  .has_comments = true};

}  // namespace

Form per_core_form() {
  return {.name = "per-core",
          .what = "a file for each core, of loads, stores and cycles that it computes",
          .marks = "0 ADDRESS, 1 ADDRESS, 2 CYCLES",
          .likeness = likeness_of(kPerCore),
          .convert = convert_lines_of(kPerCore),
          .joins_files = true};
}

}  // namespace linebounce::sim
