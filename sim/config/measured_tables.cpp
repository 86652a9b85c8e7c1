#include "sim/config/measured_tables.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include "models/text/csv_row.hpp"
#include "sim/config/paper_rows.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/config/table_reader.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFigures = "configs/figures";
constexpr double kHighestNode = 63;
constexpr double kMostSamples = 1e15;
// Each of these words is also a key that lists rows of that kind. The key `kind` sets the kind of all rows that no list
// contains.
constexpr std::array kKinds = {PaperKind::calibrated, PaperKind::in_sight, PaperKind::predicted};
constexpr std::string_view kIdCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_-.";

bool is_figure_path(const std::string& name) {
  return name.starts_with('.') || name.starts_with('/');
}

class MeasuredTableReader {
 public:
  MeasuredTableReader(const toml::table& table, const ExperimentTables& experiment)
      : reader_(table, experiment.file, "table"), experiment_(experiment) {}

  MeasuredTable read() {
    table_.id = reader_.required_text("id");
    if (table_.id.find_first_not_of(kIdCharacters) != std::string::npos || table_.id.starts_with('.') ||
        table_.id.ends_with('.') || table_.id.find("..") != std::string::npos) {
      reader_.refuse("id", fmt::format("\"{}\" cannot be part of a metric's name; legal: a-z, 0-9, _, -, and dots between them",
                                       table_.id));
    }
    table_.file = reader_.required_text("file");
    table_.structure = reader_.required_text("structure");
    table_.field = reader_.required_text("field");
    table_.home = reader_.integer("home", 0, kHighestNode);
    table_.places = {reader_.origin_of("structure").place, reader_.origin_of("field").place};
    table_.at = read_selection(reader_, "at", experiment_).value_or(std::map<std::string, ConfigValue>{});
    const auto least = reader_.integer("min_samples", 1, kMostSamples);
    if (!least) reader_.refuse("min_samples", "this key is missing and has no default");
    table_.min_samples = *least;
    table_.tolerance_abs = reader_.number("tolerance_abs", 0);
    table_.source = reader_.text("source").value_or("");
    const auto named = kinds();
    reader_.finish();
    rows();
    for (MeasuredRow& row : table_.rows) row.kind = table_.kind;
    for (const auto& [kind, keys] : named) mark(*keys, kind);
    return table_;
  }

 private:
  // Sets the table's own kind. Returns the lists of rows that have another kind.
  std::map<PaperKind, const toml::array*> kinds() {
    std::vector<std::string> legal;
    std::map<PaperKind, const toml::array*> named;
    for (const PaperKind kind : kKinds) {
      legal.push_back(word_of(kind));
      if (const auto* keys = reader_.array(word_of(kind))) named[kind] = keys;
    }
    const auto kind = read_kind(reader_, legal);
    if (kind) table_.kind = *kind;
    if (!table_.tolerance_abs && kind) refuse_kind("kind");
    if (!table_.tolerance_abs && !named.empty()) refuse_kind(word_of(named.begin()->first));
    return named;
  }

  [[noreturn]] void refuse_kind(const std::string& key) const {
    reader_.refuse(key, fmt::format("rows have a kind where they are scored: {} needs tolerance_abs", key));
  }

  void rows() {
    const fs::path file = measured_table_file(table_.file, fs::path(experiment_.file).parent_path());
    if (is_figure_path(table_.file)) table_.file = absolute_path(file);
    std::string text;
    try {
      text = read_text(file);
    } catch (const ConfigError& error) {
      reader_.refuse("file", error.what());
    }
    table_.rows = read_measured_rows(text, file.string(), table_.structure);
  }

  // Gives the listed rows this kind. Only scored rows have a kind. Errors: ConfigError for any other row, and for a row that
  // is listed twice.
  void mark(const toml::array& keys, PaperKind kind) {
    const std::string word = word_of(kind);
    std::vector<std::string> scored;
    for (const MeasuredRow& row : table_.rows) {
      if (table_.is_scored(row)) scored.push_back(row.key);
    }
    for (const auto& element : keys) {
      const std::string key = element.value_or(std::string{});
      const auto row = std::ranges::find_if(table_.rows, [&](const auto& r) { return r.key == key; });
      if (row == table_.rows.end() || !table_.is_scored(*row)) reader_.refuse(word, "the scored row " + not_known(key, scored));
      if (!marked_.insert(key).second) reader_.refuse(word, fmt::format("the row \"{}\" is named twice", key));
      row->kind = kind;
    }
  }

  TableReader reader_;
  const ExperimentTables& experiment_;
  MeasuredTable table_;
  std::set<std::string> marked_;  // keys of the rows that a list contains
};

constexpr std::array kColumns = {"samples", "remote_pct", "instruction", "function", "offset_in_line", "field"};
constexpr const char* kStructure = "structure";  // optional
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
        refuse(fmt::format("column {} is missing; a table needs {}, and {} if its rows belong to several structures", name,
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
      refuse(fmt::format("{} \"{}\" is not a number; legal: 0 to {}", column, text, most));
    }
    return value;
  }

  [[nodiscard]] const std::string& name(const std::string& column) const {
    if (at(column).empty()) refuse(column + " is empty");
    return at(column);
  }

  // The profiler samples loads and atomic operations, but no plain stores. Errors: ConfigError for any other instruction.
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
    const auto same = std::ranges::find_if(rows_, [&row](const MeasuredRow& other) {
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

  // Converts to lower case. Replaces each run of characters other than letters, digits and underscores by one underscore;
  // drops such runs at both ends.
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

  // The row's key, "FUNCTION.FIELD". The structure is added only if it is not the table's own, and the access only if the
  // function's rows have several kinds of access to the field.
  [[nodiscard]] std::string key_of(const MeasuredRow& row) const {
    const std::string owner = row.structure == structure_ ? "" : row.structure + ".";
    const bool both = std::ranges::any_of(rows_, [&row](const MeasuredRow& other) {
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
    std::ranges::stable_sort(rows_, [](const auto& a, const auto& b) { return a.offset < b.offset; });
    return std::move(rows_);
  }

  const std::string& text_;
  const std::string& file_;
  const std::string& structure_;
  std::map<std::string, std::size_t> columns_;
  std::size_t width_ = 0;
  std::ptrdiff_t line_ = 0;  // the number of the row's first line
  std::vector<std::string> fields_;
  std::vector<MeasuredRow> rows_;
};

}  // namespace

fs::path measured_table_file(const std::string& name, const fs::path& base) {
  return is_figure_path(name) ? (base / name).lexically_normal() : project_root() / kFigures / name;
}

std::vector<MeasuredTable> read_measured_tables(const toml::array& tables, const ExperimentTables& experiment) {
  std::vector<MeasuredTable> measured;
  std::set<std::string> ids;
  for (const auto& element : tables) {
    const Origin here{place_of(experiment.file, element.source())};
    if (!element.is_table()) fail(here, "table", fmt::format("expected [[table]]s, found {}", describe_node(element)));
    measured.push_back(MeasuredTableReader(*element.as_table(), experiment).read());
    if (!ids.insert(measured.back().id).second)
      fail(here, "table.id", fmt::format("\"{}\" is used by another table: ids are unique", measured.back().id));
  }
  return measured;
}

void check_selections(const std::vector<MeasuredTable>& measured, const toml::array& tables,
                      const std::vector<PointPlace>& points, const std::string& file) {
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const auto selected =
        std::ranges::count_if(points, [&](const PointPlace& point) { return lies_at(point, measured[i].at); });
    if (selected == 1) continue;
    fail(Origin{place_of(file, tables[i].source())}, "table.at",
         fmt::format("table {}: selects {} points; a table needs exactly one", measured[i].id, selected));
  }
}

std::vector<PaperRow> paper_rows_of(const std::vector<MeasuredTable>& measured) {
  std::vector<PaperRow> rows;
  for (const MeasuredTable& table : measured) {
    for (const MeasuredRow& measured_row : table.rows) {
      if (!table.tolerance_abs || !table.is_scored(measured_row)) continue;
      PaperRow& row = rows.emplace_back();
      row.id = table.id + "." + measured_row.key;
      row.metrics = {table.metric() + "." + measured_row.key + ".remote_pct"};
      row.at = table.at;
      row.value = measured_row.remote_pct;
      row.tolerance_abs = table.tolerance_abs;
      row.kind = measured_row.kind;
      row.source = table.source;
      row.table = table.id;
    }
  }
  return rows;
}

toml::array measured_tables_array(const std::vector<MeasuredTable>& measured) {
  toml::array tables;
  for (const MeasuredTable& table : measured) {
    toml::table out{{"id", table.id},       {"file", table.file},     {"structure", table.structure},
                    {"field", table.field}, {"source", table.source}, {"at", selection_table(table.at)}};
    if (table.home) out.insert("home", *table.home);
    out.insert("min_samples", table.min_samples);
    if (table.tolerance_abs) insert_value(out, "tolerance_abs", canonical(*table.tolerance_abs));
    if (table.kind != PaperKind::predicted) out.insert("kind", word_of(table.kind));
    for (const PaperKind kind : kKinds) {
      toml::array named;
      for (const MeasuredRow& row : table.rows) {
        if (row.kind == kind && kind != table.kind) named.push_back(row.key);
      }
      if (!named.empty()) out.insert(word_of(kind), std::move(named));
    }
    tables.push_back(std::move(out));
  }
  return tables;
}

void erase_scoring(toml::array& tables) {
  for (auto& element : tables) {
    for (const auto* key : {"at", "tolerance_abs", "kind", "source"}) element.as_table()->erase(key);
    for (const PaperKind kind : kKinds) element.as_table()->erase(word_of(kind));
  }
}

std::vector<MeasuredRow> read_measured_rows(const std::string& text, const std::string& file, const std::string& structure) {
  return Reader(text, file, structure).read();
}

}  // namespace linebounce::sim
