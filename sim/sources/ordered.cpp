// Traces of several CPUs in one common order, as used in courses on coherence: "CPU r ADDRESS" or "CPU w ADDRESS", with
// hexadecimal addresses.
#include "sim/sources/address_lines.hpp"
#include "sim/sources/line_file.hpp"

namespace linebounce::sim {
namespace {

// Reads "3", "P3" and "cpu3:".
std::optional<int> cpu_number(std::string_view word) {
  constexpr std::uint64_t kMostCpus = 65535;
  if (word.ends_with(':')) word.remove_suffix(1);
  for (const std::string_view before : {"cpu", "CPU", "core", "P", "p"}) {
    if (!word.starts_with(before)) continue;
    word.remove_prefix(before.size());
    break;
  }
  const auto number = decimal(word);
  return number && *number <= kMostCpus ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

std::optional<AddressLine> ordered_line(std::string_view text) {
  if (text.starts_with('#')) return AddressLine{};
  const auto cpu = cpu_number(take_word(text));
  const auto what = read_or_write(take_word(text));
  const auto address = hexadecimal(take_word(text));
  if (!cpu || !what || !address || !text.empty()) return std::nullopt;
  return AddressLine{.what = *what, .address = *address, .cpu = *cpu};
}

constexpr AddressGrammar kOrdered{.source = "An ordered trace",
                                  .expected = "a CPU's number, r or w, and a hexadecimal address",
                                  .parse = ordered_line,
                                  .word_bytes = 4,
                                  .has_cpus = true};

}  // namespace

Form ordered_form() {
  return {.name = "ordered",
          .what = "reads and writes of several CPUs, in one order",
          .marks = "CPU r ADDRESS, CPU w ADDRESS",
          .likeness = likeness_of(kOrdered),
          .convert = convert_lines_of(kOrdered)};
}

}  // namespace linebounce::sim
