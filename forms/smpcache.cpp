// Reads SMPCache's traces, one file per processor: "LABEL ADDRESS", where 0 fetches an instruction, 2 reads and 3 writes.
// Source: its manual (University of Extremadura).
#include "forms/address_lines.hpp"
#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

using What = AddressLine::What;

std::optional<AddressLine> smpcache_line(std::string_view text) {
  const std::string_view label = take_word(text);
  const auto address = hexadecimal(take_word(text));
  if (!address || !text.empty()) return std::nullopt;
  if (label == "0") return AddressLine{.what = What::fetch, .address = *address};
  if (label == "2") return AddressLine{.what = What::load, .address = *address};
  if (label == "3") return AddressLine{.what = What::store, .address = *address};
  return std::nullopt;
}

constexpr AddressGrammar kSmpcache{.source = "SMPCache",
                                   .expected = "a label (0 instruction, 2 read, 3 write) and a hexadecimal address",
                                   .parse = smpcache_line,
                                   .word_bytes = 4};

}  // namespace

Form smpcache_form() {
  return {.name = "smpcache",
          .what = "SMPCache's traces, a file for each processor",
          .marks = "LABEL ADDRESS, with labels 0, 2 and 3",
          .likeness = likeness_of(kSmpcache),
          .convert = convert_lines_of(kSmpcache),
          .extension = ".prg",
          .joins_files = true};
}

}  // namespace linebounce::sim
