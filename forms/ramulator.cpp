// Reads the traces of cores that Ramulator 1 and 2 take (CMU SAFARI): "BUBBLES ADDRESS" reads after so many instructions, and a
// third number is the address of a line that the read's caches wrote back. Ramulator 1, with caches of its own, takes "BUBBLES
// ADDRESS R" and W instead; Ramulator 2 also takes "LD ADDRESS" and "ST ADDRESS". Addresses are decimal unless they begin with
// 0x.
#include <algorithm>
#include <set>

#include "forms/address_lines.hpp"
#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

using What = AddressLine::What;

constexpr std::size_t kRamulatorWords = 3;

// An address of Ramulator's. One with a leading 0 is octal to version 1 and decimal to version 2, so it is none.
std::optional<std::uint64_t> ramulator_address(std::string_view word) {
  if (word.starts_with("0x") || word.starts_with("0X")) return hexadecimal(word);
  return word.size() > 1 && word.starts_with('0') ? std::nullopt : decimal(word);
}

std::optional<AddressLine> load_or_store(std::string_view kind, std::string_view address) {
  const auto place = ramulator_address(address);
  if (!place || (kind != "LD" && kind != "ST")) return std::nullopt;
  return AddressLine{.what = kind == "LD" ? What::load : What::store, .address = *place};
}

std::optional<AddressLine> ramulator_line(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() < 2 || words.size() > kRamulatorWords) return std::nullopt;
  const auto bubbles = decimal(words[0]);
  if (!bubbles) return words.size() == 2 ? load_or_store(words[0], words[1]) : std::nullopt;
  const auto address = ramulator_address(words[1]);
  if (!address || *bubbles > trace::kMostCount) return std::nullopt;
  AddressLine line{.what = What::load, .address = *address, .instructions = *bubbles + 1};
  const bool states_kind = words.size() == kRamulatorWords && (words[2] == "R" || words[2] == "W");
  line.below_cache = !states_kind;
  if (states_kind && words[2] == "W") line.what = What::store;
  if (states_kind || words.size() == 2) return line;
  line.written_back = ramulator_address(words[2]);
  return line.written_back ? std::optional(line) : std::nullopt;
}

constexpr AddressGrammar kRamulator{
    .source = "Ramulator",
    .expected =
        "a number of instructions, the address of a read, and perhaps that of a line written back, or R or W; or LD or ST "
        "and an address (decimal, without leading zeros, or 0x and hexadecimal)",
    .parse = ramulator_line};

// Tells Ramulator's lines from lines of other forms that have as many words.
class RamulatorMarks {
 public:
  void see(std::string_view text) {
    const std::vector<std::string_view> words = words_of(text);
    const auto line = ramulator_line(text);
    if (!line || line->instructions == 0) return;
    const bool states_kind = words.size() == kRamulatorWords && !line->written_back;
    counts_.insert(line->instructions - 1);
    any_counted_ = true;
    any_kind_ = any_kind_ || states_kind;
    all_kinds_ = all_kinds_ && states_kind;
    any_large_ = any_large_ || line->address >= kFirstLikely;
    all_labels_ = all_labels_ && words.size() == 2 && line->instructions <= kLabels;
  }

  // LD and ST alone are a read-write trace's, whose addresses are hexadecimal: the user has to say that these are decimal.
  [[nodiscard]] bool may_be_ramulator() const {
    if (!any_counted_) return false;
    if (any_kind_) return all_kinds_ && !counts_cpus();
    // Small numbers in rows are a matrix, unless each row may be a label and an address.
    return any_large_ || all_labels_;
  }

 private:
  static constexpr std::uint64_t kFirstLikely = 65536;  // no program has data below
  static constexpr std::uint64_t kLabels = 5;           // Dinero's, the most that any form has

  // In "1 0x40 R" the first number may be a CPU's. CPUs have numbers from 0 or 1 on without gaps.
  [[nodiscard]] bool counts_cpus() const {
    return *counts_.begin() <= 1 && *counts_.rbegin() - *counts_.begin() < counts_.size();
  }

  std::set<std::uint64_t> counts_;
  bool any_counted_ = false, any_kind_ = false, all_kinds_ = true, any_large_ = false, all_labels_ = true;
};

Likeness ramulator_likeness(const Excerpt& excerpt) {
  Likeness likeness = likeness_of(kRamulator)(excerpt);
  if (!likeness.fits()) return likeness;
  RamulatorMarks marks;
  for (const Excerpt::Line& line : excerpt.lines) marks.see(line.text);
  return marks.may_be_ramulator() ? likeness : Likeness{};
}

}  // namespace

Form ramulator_form() {
  return {.name = "ramulator",
          .what = "traces of cores for Ramulator 1 and 2, a file for each core",
          .marks = "BUBBLES ADDRESS, BUBBLES ADDRESS WRITTEN_BACK, BUBBLES ADDRESS R, LD ADDRESS; decimal",
          .likeness = ramulator_likeness,
          .convert = convert_lines_of(kRamulator),
          .joins_files = true};
}

}  // namespace linebounce::sim
