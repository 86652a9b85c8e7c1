// Reads traces of several CPUs in one global order, as courses on coherence use them: "CPU r ADDRESS", "CPU,w,ADDRESS", "core
// 1: ST ADDRESS", "CPU ADDRESS r" or "r CPU ADDRESS", with hexadecimal addresses. A time may stand in front, an instruction's
// address behind the CPU, and a size or a stored value behind the address: "P0: write 120 <-- 80". Instead of r and w, 0 and 1
// may stand between CPU and address. The first line may have titles, "cpu,op,address".
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "forms/address_lines.hpp"
#include "forms/cpu_words.hpp"
#include "forms/line_file.hpp"
#include "forms/operation_words.hpp"

namespace linebounce::sim {
namespace {

using What = AddressLine::What;

// The cells of a line, without an allocation.
class Cells {
 public:
  static constexpr std::size_t kMost = 8;

  [[nodiscard]] std::size_t size() const { return size_; }
  std::string_view operator[](std::size_t i) const { return cells_[i]; }
  [[nodiscard]] const std::string_view* begin() const { return cells_.data(); }
  [[nodiscard]] const std::string_view* end() const { return cells_.data() + size_; }
  void add(std::string_view cell) { cells_[size_++] = cell; }
  void erase(std::size_t at) { std::copy(begin() + at + 1, end(), cells_.data() + at), --size_; }

 private:
  std::array<std::string_view, kMost> cells_{};
  std::size_t size_ = 0;
};

bool has_hexadecimal_mark(std::string_view word) {
  return word.starts_with("0x") || word.starts_with("0X");
}

// Splits a line at blanks, commas, semicolons, parentheses and quotes. A line of too many cells has none.
Cells cells_of_order(std::string_view text) {
  constexpr std::string_view kBetween = " \t,;()\"";
  Cells cells;
  for (std::size_t at = text.find_first_not_of(kBetween); at != text.npos; at = text.find_first_not_of(kBetween, at)) {
    const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    if (cells.size() == Cells::kMost) return {};
    cells.add(text.substr(at, end - at));
    at = end;
  }
  return cells;
}

// True for titles: three words or more without digits, of which one is "address" or "addr".
bool is_title_of_order(const Cells& cells) {
  constexpr std::size_t kFewest = 3;
  const auto has_digit = [](std::string_view cell) { return cell.find_first_of("0123456789") != cell.npos; };
  const auto is_address = [](std::string_view cell) {
    const std::string lower = lower_case(cell);
    return lower == "address" || lower == "addr";
  };
  return cells.size() >= kFewest && std::none_of(cells.begin(), cells.end(), has_digit) &&
         std::any_of(cells.begin(), cells.end(), is_address);
}

// Makes a line of its parts. Any of the texts may turn out to be something else.
std::optional<AddressLine> access_of(What what, std::string_view cpu, std::string_view address) {
  const auto number = cpu_number(cpu);
  const auto place = hexadecimal(address);
  if (!number || !place) return std::nullopt;
  return AddressLine{.what = what, .address = *place, .cpu = *number, .in_digits = is_in_digits(address)};
}

// "R 0 0x1f00". If neither an address's 0x nor a CPU's letter says which cell is which, a small number is the CPU's; a larger
// one would be an address with a size behind it.
std::optional<AddressLine> kind_first(What what, std::string_view second, std::string_view third) {
  constexpr std::uint64_t kLikelyCpus = 64;
  const auto begins_with_letter = [](std::string_view cell) { return !cell.empty() && is_letter(cell.front()); };
  if (has_hexadecimal_mark(second) && begins_with_letter(third)) return access_of(what, third, second);
  const auto number = decimal(second);
  const bool is_cpu = begins_with_letter(second) || has_hexadecimal_mark(third) || (number && *number < kLikelyCpus);
  return is_cpu ? access_of(what, second, third) : std::nullopt;
}

// "0 1 0x1f00": 0 reads and 1 writes.
std::optional<AddressLine> kind_as_number(const Cells& cells) {
  if (cells.size() != 3 || (cells[1] != "0" && cells[1] != "1")) return std::nullopt;
  return access_of(cells[1] == "0" ? What::load : What::store, cells[0], cells[2]);
}

// Takes the last cell away, a size or a stored value, if the line has one behind its address. A load's second address is none
// of these: it is that of an instruction, and the first number counts instructions (USIMM's traces).
bool take_figure(Cells& cells, std::size_t kind) {
  const bool is_kind_second = kind == 1 || kind == cells.size();
  if (cells.size() != 4 || !is_kind_second || !hexadecimal(cells[3])) return false;
  const bool is_load = kind == 1 && read_or_write(cells[1]) == What::load;
  if (is_load && has_hexadecimal_mark(cells[3])) return false;
  cells.erase(3);
  return true;
}

std::optional<AddressLine> line_of_cells(Cells cells) {
  const auto kind_at = [&cells] {
    const auto* const found = std::find_if(cells.begin(), cells.end(), read_or_write);
    return static_cast<std::size_t>(found - cells.begin());
  };
  // Removes an instruction's address behind the CPU, then a time in front of it.
  if (kind_at() == 2 && cells.size() > 3 && has_hexadecimal_mark(cells[1])) cells.erase(1);
  const bool has_time = kind_at() == 2 && cells.size() > 3 && real(cells[0].substr(0, cells[0].find(':'))).has_value();
  if (has_time) cells.erase(0);
  const std::size_t kind = kind_at();
  const bool has_figure = take_figure(cells, kind);
  if (cells.size() != 3) return std::nullopt;
  std::optional<AddressLine> line;
  if (kind == 0) line = kind_first(*read_or_write(cells[0]), cells[1], cells[2]);
  if (kind == 1) line = access_of(*read_or_write(cells[1]), cells[0], cells[2]);
  if (kind == 2) line = access_of(*read_or_write(cells[2]), cells[0], cells[1]);
  if (kind >= cells.size()) line = kind_as_number(cells);
  if (line) line->has_time = has_time;
  if (line) line->has_figure = has_figure;
  return line;
}

std::optional<AddressLine> ordered_line(std::string_view text) {
  const std::size_t value = std::min({text.find("<-"), text.find(" = "), text.size()});
  Cells cells = cells_of_order(text.substr(0, value));
  if (is_title_of_order(cells)) return AddressLine{};
  for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
    if (announces_cpu(cells[i]) && cpu_number(cells[i + 1])) cells.erase(i);  // "core 1:"
  }
  return line_of_cells(cells);
}

constexpr AddressGrammar kOrdered{.source = "An ordered trace",
                                  .expected = "a CPU's number, r or w, and a hexadecimal address",
                                  .parse = ordered_line,
                                  .word_bytes = 4,
                                  .has_cpus = true,
                                  .has_comments = true};

}  // namespace

Form ordered_form() {
  return {.name = "ordered",
          .what = "reads and writes of several CPUs, in one order",
          .marks = "CPU r ADDRESS, CPU w ADDRESS",
          .likeness = likeness_of(kOrdered),
          .convert = convert_lines_of(kOrdered)};
}

}  // namespace linebounce::sim
