#include "sim/config/measured_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "sim/config/measured_rows.hpp"
#include "sim/config/paper_rows.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/config/table_reader.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFigures = "configs/figures";
constexpr double kMostNodes = 63;
constexpr double kMostSamples = 1e15;
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
    table_.home = reader_.integer("home", 0, kMostNodes);
    table_.places = {reader_.origin_of("structure").place, reader_.origin_of("field").place};
    table_.at = read_selection(reader_, "at", experiment_).value_or(std::map<std::string, ConfigValue>{});
    const auto least = reader_.integer("min_samples", 1, kMostSamples);
    if (!least) reader_.refuse("min_samples", "this key is missing and has no default");
    table_.min_samples = *least;
    table_.tolerance_abs = reader_.number("tolerance_abs", 0);
    table_.source = reader_.text("source").value_or("");
    const toml::array* calibrated = reader_.array("calibrated");
    reader_.finish();
    rows();
    if (calibrated != nullptr && !table_.tolerance_abs)
      reader_.refuse("calibrated", "rows have a kind where they are scored: calibrated needs tolerance_abs");
    if (calibrated != nullptr) mark_calibrated(*calibrated);
    return table_;
  }

 private:
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

  // Of the rows that are scored: of any other row the word would say nothing.
  void mark_calibrated(const toml::array& keys) {
    std::vector<std::string> scored;
    for (const MeasuredRow& row : table_.rows) {
      if (table_.is_scored(row)) scored.push_back(row.key);
    }
    for (const auto& element : keys) {
      const std::string key = element.value_or(std::string{});
      const auto row = std::find_if(table_.rows.begin(), table_.rows.end(), [&](const auto& r) { return r.key == key; });
      if (row == table_.rows.end() || !table_.is_scored(*row))
        reader_.refuse("calibrated", "the scored row " + not_known(key, scored));
      row->calibrated = true;
    }
  }

  TableReader reader_;
  const ExperimentTables& experiment_;
  MeasuredTable table_;
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

void check_selections(const std::vector<MeasuredTable>& measured, const toml::array& tables, const std::vector<Point>& points,
                      const std::string& file) {
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const auto selected =
        std::count_if(points.begin(), points.end(), [&](const Point& point) { return lies_at(point, measured[i].at); });
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
      row.kind = measured_row.calibrated ? PaperKind::calibrated : PaperKind::predicted;
      row.source = table.source;
      row.table = table.id;
    }
  }
  return rows;
}

toml::array measured_tables_array(const std::vector<MeasuredTable>& measured) {
  toml::array tables;
  for (const MeasuredTable& table : measured) {
    toml::array calibrated;
    for (const MeasuredRow& row : table.rows) {
      if (row.calibrated) calibrated.push_back(row.key);
    }
    toml::table out{{"id", table.id},       {"file", table.file},     {"structure", table.structure},
                    {"field", table.field}, {"source", table.source}, {"at", selection_table(table.at)}};
    if (table.home) out.insert("home", *table.home);
    out.insert("min_samples", table.min_samples);
    if (table.tolerance_abs) insert_value(out, "tolerance_abs", canonical(*table.tolerance_abs));
    if (!calibrated.empty()) out.insert("calibrated", std::move(calibrated));
    tables.push_back(std::move(out));
  }
  return tables;
}

void erase_scoring(toml::array& tables) {
  for (auto& element : tables) {
    for (const auto* key : {"at", "tolerance_abs", "calibrated", "source"}) element.as_table()->erase(key);
  }
}

}  // namespace linebounce::sim
