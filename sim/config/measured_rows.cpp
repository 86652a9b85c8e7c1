#include "sim/config/measured_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include "models/text/csv_row.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

constexpr std::array kColumns = {"samples", "remote_pct", "instruction", "function", "offset_in_line", "field"};
constexpr const char* kStructure = "structure";  // may be left out
constexpr std::int64_t kMostSamplesOfARow = std::int64_t{1} << 53;

class Reader {
 public:
  Reader(const std::string& text, const std::string& file, const std::string& structure)
      : text_(text), file_(file), structure_(structure) {}

  std::vector<MeasuredRow> read() {
    std::string_view rest = text_;
    std::ptrdiff_t next_line = 1;
    while (!rest.empty()) {
      line_ = next_line;
      const std::string_view before = rest;
      const auto fields = take_csv_row(rest);
      if (!fields) refuse("a quoted field does not end where it should");
      const bool empty = fields->size() == 1 && fields->front().empty();
      if (!empty) take(*fields);
      next_line += std::count(before.begin(), before.end() - static_cast<std::ptrdiff_t>(rest.size()), '\n');
    }
    if (rows_.empty()) refuse("the table has no rows");
    return finished();
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const { throw ConfigError(fmt::format("{}:{}: {}", file_, line_, what)); }

  void take(const std::vector<std::string>& fields) {
    if (columns_.empty()) return head(fields);
    if (fields.size() != width_) refuse(fmt::format("{} fields; the first line has {}", fields.size(), width_));
    fields_ = fields;
    add();
  }

  void head(const std::vector<std::string>& names) {
    width_ = names.size();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!columns_.emplace(names[i], i).second) refuse(fmt::format("two columns are called {}", names[i]));
    }
    for (const char* name : kColumns) {
      if (!columns_.contains(name)) {
        refuse(fmt::format("there is no column {}; a table has {}, and {} where rows are of several structures", name,
                           fmt::join(kColumns, ", "), kStructure));
      }
    }
  }

  [[nodiscard]] const std::string& at(const std::string& column) const { return fields_[columns_.at(column)]; }

  template <class Number>
  [[nodiscard]] Number number(const std::string& column, Number most) const {
    const std::string& text = at(column);
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size() && !text.empty();
    if (!whole || !(value >= 0 && value <= most)) {
      refuse(fmt::format("{} \"{}\" is no number; legal: 0 to {}", column, text, most));
    }
    return value;
  }

  [[nodiscard]] const std::string& name(const std::string& column) const {
    if (at(column).empty()) refuse(column + " is empty");
    return at(column);
  }

  // Loads and atomic operations have addresses in a sample; stores have none.
  [[nodiscard]] std::string access() const {
    const std::string& instruction = at("instruction");
    if (instruction.starts_with("ld")) return "load";
    for (const char* atomic : {"cmpxchg", "fetchadd", "xchg"}) {
      if (instruction.starts_with(atomic)) return "atomic";
    }
    refuse(fmt::format("instruction \"{}\" is not known; legal: ld..., cmpxchg..., fetchadd..., xchg...", instruction));
  }

  void add() {
    MeasuredRow row;
    row.structure = columns_.contains(kStructure) && !at(kStructure).empty() ? at(kStructure) : structure_;
    row.function = name("function");
    row.field = name("field");
    row.access = access();
    row.offset = number<std::int64_t>("offset_in_line", 4096);
    row.samples = number<std::int64_t>("samples", kMostSamplesOfARow);
    row.remote_pct = number<double>("remote_pct", 100);
    const auto same = std::find_if(rows_.begin(), rows_.end(), [&row](const MeasuredRow& other) {
      return std::tie(other.structure, other.function, other.field, other.access) ==
             std::tie(row.structure, row.function, row.field, row.access);
    });
    if (same == rows_.end()) {
      rows_.push_back(row);
    } else {
      merge(*same, row);
    }
  }

  static void merge(MeasuredRow& sum, const MeasuredRow& row) {
    const auto before = static_cast<double>(sum.samples);
    const auto more = static_cast<double>(row.samples);
    if (before + more > 0) sum.remote_pct = (sum.remote_pct * before + row.remote_pct * more) / (before + more);
    sum.samples += row.samples;
    sum.offset = std::min(sum.offset, row.offset);
  }

  // Letters and digits; everything between them is one underscore.
  static std::string harmless(const std::string& name) {
    std::string out;
    bool gap = false;
    for (const char c : name) {
      const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      const bool plain = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9') || lower == '_';
      if (plain && gap && !out.empty()) out += '_';
      if (plain) out += lower;
      gap = !plain;
    }
    return out;
  }

  // The access only where there are both, the structure only of neighbours: keys are for people, too.
  [[nodiscard]] std::string key_of(const MeasuredRow& row) const {
    const std::string owner = row.structure == structure_ ? "" : row.structure + ".";
    const bool both = std::any_of(rows_.begin(), rows_.end(), [&row](const MeasuredRow& other) {
      return std::tie(other.structure, other.function, other.field) == std::tie(row.structure, row.function, row.field) &&
             other.access != row.access;
    });
    return harmless(row.function) + "." + harmless(owner + row.field) + (both ? "." + row.access : "");
  }

  std::vector<MeasuredRow> finished() {
    std::set<std::string> keys;
    for (MeasuredRow& row : rows_) {
      row.key = key_of(row);
      if (!keys.insert(row.key).second) refuse(fmt::format("two rows would be called {}", row.key));
    }
    std::stable_sort(rows_.begin(), rows_.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
    return std::move(rows_);
  }

  const std::string& text_;
  const std::string& file_;
  const std::string& structure_;
  std::map<std::string, std::size_t> columns_;
  std::size_t width_ = 0;
  std::ptrdiff_t line_ = 0;  // the row's first
  std::vector<std::string> fields_;
  std::vector<MeasuredRow> rows_;
};

}  // namespace

std::vector<MeasuredRow> read_measured_rows(const std::string& text, const std::string& file, const std::string& structure) {
  return Reader(text, file, structure).read();
}

}  // namespace linebounce::sim
