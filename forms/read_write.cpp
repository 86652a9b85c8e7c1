// Reads traces of one core or thread, as many courses use them: "r ADDRESS" or "w ADDRESS", hexadecimal. Ramulator's traces
// have the address first, "ADDRESS R". Dinero IV's extended format (-informat d) has a size in bytes behind the address, in
// hexadecimal, and further letters: i for an instruction; m and v are no accesses.
#include "forms/address_lines.hpp"
#include "forms/line_file.hpp"
#include "forms/operation_words.hpp"

namespace linebounce::sim {
namespace {

using What = AddressLine::What;

std::optional<AddressLine> read_write_line(std::string_view text) {
  const std::string_view first = take_word(text), second = take_word(text);
  if (text.empty() && read_or_write(second) && first.starts_with("0x") && hexadecimal(first))
    return AddressLine{.what = *read_or_write(second), .address = *hexadecimal(first)};
  const auto what = read_or_write(first);
  const auto address = hexadecimal(second);
  if (!address) return std::nullopt;
  if (text.empty())
    return what ? std::optional(AddressLine{.what = *what, .address = *address, .in_digits = is_in_digits(second)})
                : std::nullopt;
  const auto bytes = hexadecimal(take_word(text));
  if (!bytes || *bytes == 0 || !text.empty()) return std::nullopt;
  if (first == "i") return AddressLine{.what = What::fetch, .address = *address, .bytes = *bytes};
  if (first == "m" || first == "v") return AddressLine{};
  return what ? std::optional(
                    AddressLine{.what = *what, .address = *address, .bytes = *bytes, .in_digits = is_in_digits(second)})
              : std::nullopt;
}

constexpr AddressGrammar kReadWrite{.source = "A read-write trace",
                                    .expected = "r or w, and a hexadecimal address",
                                    .parse = read_write_line,
                                    .word_bytes = 4,
                                    .has_comments = true};

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
