// Reads traces of one core or thread, as many courses use them: "r ADDRESS" or "w ADDRESS", hexadecimal.
#include "sim/sources/address_lines.hpp"
#include "sim/sources/line_file.hpp"

namespace linebounce::sim {
namespace {

std::optional<AddressLine> read_write_line(std::string_view text) {
  const auto what = read_or_write(take_word(text));
  const auto address = hexadecimal(take_word(text));
  if (!what || !address || !text.empty()) return std::nullopt;
  return AddressLine{.what = *what, .address = *address};
}

constexpr AddressGrammar kReadWrite{
    .source = "A read-write trace", .expected = "r or w, and a hexadecimal address", .parse = read_write_line, .word_bytes = 4};

}  // namespace

Form read_write_form() {
  return {.name = "read-write",
          .what = "reads and writes of one thread, or a file for each core",
          .marks = "r ADDRESS, w ADDRESS",
          .likeness = likeness_of(kReadWrite),
          .convert = convert_lines_of(kReadWrite),
          .joins_files = true};
}

}  // namespace linebounce::sim
