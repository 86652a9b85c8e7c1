// Reads traces of several CPUs in one global order, as courses on coherence use them: "CPU r ADDRESS", "CPU,w,ADDRESS", "core
// 1: ST ADDRESS" or "CPU ADDRESS r", with hexadecimal addresses. A stored value may follow, "P0: write 120 <-- 80", and the
// first line may have titles, "cpu,op,address".
#include "sim/sources/address_lines.hpp"
#include "sim/sources/line_file.hpp"

namespace linebounce::sim {
namespace {

// Parses a CPU number: "3", "P3" or "cpu3:".
std::optional<int> cpu_number(std::string_view word) {
  constexpr std::uint64_t kMostCpus = 65535;
  if (word.ends_with(':')) word.remove_suffix(1);
  for (const std::string_view before : {"cpu", "CPU", "core", "P", "p", "T", "t"}) {
    if (!word.starts_with(before)) continue;
    word.remove_prefix(before.size());
    break;
  }
  const auto number = decimal(word);
  return number && *number <= kMostCpus ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

// Removes the first cell, and returns it. It ends at a comma; in a line without commas, it is a word.
std::string_view take_cell(std::string_view& text) {
  const std::size_t comma = text.find(',');
  if (comma == text.npos) return take_word(text);
  const std::string_view cell = stripped(text.substr(0, comma));
  text = text.substr(comma + 1);
  return cell;
}

// True for titles: three words, of which one is "address" or "addr".
bool is_title_of_order(std::string_view text) {
  int cells = 0;
  bool has_address = false;
  for (; !text.empty(); ++cells) {
    const std::string_view cell = take_cell(text);
    has_address = has_address || cell == "address" || cell == "addr" || cell == "Address";
    if (cell.find_first_of("0123456789") != cell.npos) return false;
  }
  return cells == 3 && has_address;
}

std::optional<AddressLine> ordered_line(std::string_view text) {
  if (text.starts_with('#') || is_title_of_order(text)) return AddressLine{};
  if (const std::size_t arrow = text.find("<-"); arrow != text.npos) text = stripped(text.substr(0, arrow));
  std::string_view first = take_cell(text);
  if (first == "core" || first == "CPU" || first == "cpu") first = take_cell(text);  // "core 1:"
  const auto cpu = cpu_number(first);
  const std::string_view second = take_cell(text), third = take_cell(text);
  const auto before = read_or_write(second), behind = read_or_write(third);
  const auto address = hexadecimal(before ? third : second);
  if (!cpu || before.has_value() == behind.has_value() || !address || !text.empty()) return std::nullopt;
  return AddressLine{.what = before ? *before : *behind, .address = *address, .cpu = *cpu};
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
