#include "evidence/validate_against.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "evidence/paper_runs.hpp"
#include "evidence/validation.hpp"
#include "models/text/csv_row.hpp"
#include "models/text/quote_marks.hpp"
#include "models/text/trimmed.hpp"
#include "sim/answer/quantity.hpp"
#include "sim/config/experiment_tables.hpp"
#include "sim/config/load_experiment.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/sweep.hpp"
#include "sim/results/numbers.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr double kUsualTolerance = 0.15;  // used if the file states none
constexpr std::array<std::string_view, 3> kMeasuredColumns = {"measured", "value", "figure"};
constexpr std::string_view kMetricColumn = "metric", kToleranceColumn = "tolerance", kSettingsColumn = "settings";
constexpr std::array<std::string_view, 3> kRemarks = {"unit", "note", "source"};  // columns without effect

std::optional<double> number_of(std::string_view text) {
  std::string number(text);
  std::ranges::replace(number, ',', '.');  // Some spreadsheets write a decimal comma.
  std::size_t used = 0;
  try {
    const double value = std::stod(number, &used);
    if (used == number.size() && std::isfinite(value)) return value;
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return std::nullopt;
}

struct MeasuredCell {
  std::size_t line = 0;
  std::map<std::string, std::string> settings;  // by path
  std::string metric;
  double value = 0;
  std::optional<double> tolerance;  // a share
};

class MeasuredFile {
 public:
  explicit MeasuredFile(const std::string& file) : file_(file) {
    std::size_t number = 0;
    for (const std::string& one : unquoted_lines(read_data(file))) {
      ++number;
      const std::string_view text = trimmed(one);
      if (text.empty() || text.starts_with('#')) continue;
      titles_.empty() ? head(text, number) : row(text, number);
    }
    if (cells_.empty()) throw ConfigError(fmt::format("{}: has no measurements", file));
  }

  [[nodiscard]] const std::vector<MeasuredCell>& cells() const { return cells_; }

 private:
  [[noreturn]] void refuse(std::size_t line, const std::string& text) const {
    throw ConfigError(fmt::format("{}: line {}: {}", file_, line, text));
  }

  [[nodiscard]] std::vector<std::string> cells_of(std::string_view text, std::size_t line) const {
    auto cells = take_csv_row(text, separator_);
    if (!cells || !text.empty()) refuse(line, "a quoted cell has no end, or goes on behind its end");
    for (std::string& cell : *cells) cell = std::string(trimmed(cell));
    return *std::move(cells);
  }

  void head(std::string_view text, std::size_t line) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    separator_ = text.find(';') != text.npos ? ';' : text.find('\t') != text.npos ? '\t' : ',';
    titles_ = cells_of(text, line);
    const auto is_measured = [](const std::string& title) {
      return std::ranges::find(kMeasuredColumns, title) != kMeasuredColumns.end();
    };
    const auto measured = std::ranges::count_if(titles_, is_measured);
    if (measured != 1 || std::ranges::find(titles_, kMetricColumn) == titles_.end())
      refuse(line, "expected the columns' titles: paths of settings, metric, measured, and if you like tolerance");
    std::set<std::string> distinct(titles_.begin(), titles_.end());
    if (distinct.size() != titles_.size()) refuse(line, "two columns have the same title");
  }

  void row(std::string_view text, std::size_t line) {
    const std::vector<std::string> values = cells_of(text, line);
    if (values.size() != titles_.size())
      refuse(line, fmt::format("expected {} cells, found {}", titles_.size(), values.size()));
    MeasuredCell cell{.line = line, .settings = {}, .metric = {}, .tolerance = {}};
    for (std::size_t i = 0; i < values.size(); ++i) take(cell, titles_[i], values[i]);
    cells_.push_back(std::move(cell));
  }

  void take(MeasuredCell& cell, const std::string& title, const std::string& value) const {
    if (title == kMetricColumn) {
      if (value.empty()) refuse(cell.line, "expected a metric (linebounce list metrics)");
      cell.metric = value;
    } else if (std::ranges::find(kMeasuredColumns, title) != kMeasuredColumns.end()) {
      const auto number = number_of(value);
      if (!number) refuse(cell.line, fmt::format("\"{}\" is not a measured figure", value));
      cell.value = *number;
    } else if (title == kToleranceColumn) {
      if (!value.empty()) cell.tolerance = tolerance(value, cell.line);
    } else if (title == kSettingsColumn) {
      settings(cell, value);
    } else if (std::ranges::find(kRemarks, title) == kRemarks.end()) {
      if (value.empty()) refuse(cell.line, fmt::format("{} has no value", title));
      cell.settings[title] = value;
    }
  }

  // "0.1" and "10 %".
  [[nodiscard]] double tolerance(std::string_view text, std::size_t line) const {
    const bool in_percent = text.ends_with('%');
    if (in_percent) text = trimmed(text.substr(0, text.size() - 1));
    const auto number = number_of(text);
    if (!number || *number < 0) refuse(line, fmt::format("\"{}\" is not a tolerance; legal: a share, 0.1, or 10 %", text));
    return in_percent ? *number / 100 : *number;
  }

  // "workload.lock=mcs, machine.cpus=8"
  void settings(MeasuredCell& cell, std::string_view text) const {
    while (!(text = trimmed(text)).empty()) {
      const std::size_t end = std::min(text.find_first_of(" ,;"), text.size());
      const std::string_view word = text.substr(0, end);
      const std::size_t equals = word.find('=');
      if (equals == word.npos || equals == 0 || equals + 1 == word.size())
        refuse(cell.line, fmt::format("\"{}\" is not a setting, PATH=VALUE", word));
      cell.settings[std::string(word.substr(0, equals))] = word.substr(equals + 1);
      text = text.substr(std::min(end + 1, text.size()));
    }
  }

  std::string file_;
  char separator_ = ',';
  std::vector<std::string> titles_;
  std::vector<MeasuredCell> cells_;
};

// Parses a cell as a TOML number, true, false or a word. A file name becomes an absolute path.
toml::table parsed_value(const std::string& text) {
  toml::table parsed;
  try {
    parsed = toml::parse("value = " + text);
  } catch (const toml::parse_error&) {
    parsed.insert("value", text);
  }
  const auto* word = parsed["value"].as_string();
  const bool is_file = word != nullptr && (word->get().ends_with(".toml") || word->get().ends_with(".lua"));
  if (is_file) parsed.insert_or_assign("value", absolute_path(word->get()));
  const auto value = parsed["value"];
  if (!value.is_number() && !value.is_boolean() && !value.is_string()) parsed.insert_or_assign("value", text);
  return parsed;
}

void insert_parsed(toml::array& list, const std::string& text) {
  parsed_value(text)["value"].visit([&list](auto&& node) {
    if constexpr (toml::is_value<decltype(node)>) list.push_back(node);
  });
}

// Sweeps over the measured settings, so that each measured combination has a point.
void sweep_settings(toml::table& experiment, const std::vector<MeasuredCell>& cells, const std::string& file) {
  std::set<std::string> paths;
  for (const MeasuredCell& cell : cells) {
    for (const auto& [path, value] : cell.settings) paths.insert(path);
  }
  toml::table sweep;
  if (const auto* own = experiment["sweep"].as_table()) sweep = *own;
  for (const std::string& path : paths) remove_swept(sweep, path);
  std::vector<std::string> left;
  for (const auto& [path, list] : sweep) {
    if (path != "together") left.emplace_back(path.str());
  }
  if (const auto* zips = sweep["together"].as_array(); zips != nullptr && !zips->empty())
    left.emplace_back("[[sweep.together]]");
  if (!left.empty())
    throw ConfigError(
        fmt::format("{}: the experiment sweeps {}, which the file has no column for", file, fmt::join(left, ", ")));
  experiment.erase("sweep");
  if (paths.empty()) return;
  std::map<std::string, toml::array> lists;
  std::set<std::map<std::string, std::string>> known;
  for (const MeasuredCell& cell : cells) {
    for (const std::string& path : paths) {
      if (!cell.settings.contains(path))
        throw ConfigError(fmt::format("{}: line {}: has no {}, which other lines have", file, cell.line, path));
    }
    if (!known.insert(cell.settings).second) continue;
    for (const auto& [path, value] : cell.settings) insert_parsed(lists[path], value);
  }
  toml::table together;
  for (auto& [path, list] : lists) together.insert(path, std::move(list));
  experiment.insert("sweep", toml::table{{"together", toml::array{std::move(together)}}});
}

toml::array rows_of(const std::vector<MeasuredCell>& cells, const std::string& file) {
  toml::array rows;
  for (const MeasuredCell& cell : cells) {
    toml::table at;
    for (const auto& [path, value] : cell.settings) {
      toml::array one;
      insert_parsed(one, value);
      at.insert(path, *one.begin());
    }
    rows.push_back(toml::table{{"id", fmt::format("line {}", cell.line)},
                               {"metric", cell.metric},
                               {"at", std::move(at)},
                               {"value", cell.value},
                               {"tolerance", cell.tolerance.value_or(kUsualTolerance)},
                               {"source", file}});
  }
  return rows;
}

std::string settings_text(const PaperRow& row) {
  std::string text;
  for (const auto& [path, value] : row.at)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", path.substr(path.rfind('.') + 1), value_text(value));
  return text;
}

void print_cells(const std::vector<PaperResult>& rows, const std::string& file, const Painter& paint) {
  Table table({names("settings"), names("metric", 0, 2), figures("measured", 11, 2), figures("simulated", 11, 2),
               figures("off", 9, 2), words("", 0, 2)},
              paint);
  table.add_rule();
  ValidationScore score;
  for (const PaperResult& result : rows) {
    count(score, result);
    const std::string measured = figure(*result.row.value, result.unit);
    if (!result.simulated) {
      table.add({settings_text(result.row), result.row.metrics.front(), measured, "", "", {result.problem, Colour::yellow}});
      continue;
    }
    const std::string off = result.ratio ? signed_percent(*result.ratio - 1) : fmt::format("{:+.4g}", *result.simulated);
    table.add({settings_text(result.row), result.row.metrics.front(), measured, figure(*result.simulated, result.unit), off,
               result.ok.value_or(false) ? Cell{"within", Colour::green} : Cell{"off", Colour::red}});
  }
  std::cout << table.text() << "\n";
  std::string text = fmt::format("{} of {}: {} of {} within tolerance", plural(rows.size(), "measured figure"), file,
                                 score.within_tolerance.right, score.within_tolerance.of);
  if (const auto median = score.median_error())
    text += fmt::format("; off by {:.3g} % in the median, {} of {} by at most 15 %, {} by at most 30 %", 100 * *median,
                        score.within_15.right, score.within_15.of, score.within_30.right);
  std::cout << paragraph(text + ".", 2, Colour::none, paint);
}

ordered_json cells_json(const std::vector<PaperResult>& rows, const AgainstArguments& arguments) {
  ordered_json out = {{"schema", "linebounce.against/1"}, {"file", arguments.measured}, {"experiment", arguments.experiment}};
  out["cells"] = ordered_json::array();
  for (const PaperResult& result : rows) {
    ordered_json settings = ordered_json::object();
    for (const auto& [path, value] : result.row.at) settings[path] = value_text(value);
    ordered_json cell = {{"settings", std::move(settings)}, {"metric", result.row.metrics.front()}, {"unit", result.unit}};
    cell["measured"] = number_to_json(*result.row.value);
    cell["simulated"] = result.simulated ? number_to_json(*result.simulated) : ordered_json(nullptr);
    cell["tolerance"] = number_to_json(*result.row.tolerance);
    cell["within"] = result.ok ? ordered_json(*result.ok) : ordered_json(nullptr);
    if (!result.problem.empty()) cell["problem"] = result.problem;
    out["cells"].push_back(std::move(cell));
  }
  return out;
}

}  // namespace

Experiment experiment_against(const AgainstArguments& arguments) {
  const MeasuredFile measured(arguments.measured);
  const fs::path base = find_file(kExperimentFiles, arguments.experiment, "", "");
  toml::table experiment = read_experiment_table(read_text(base), base);
  for (const char* table : {"paper", "table", "question", "report"}) experiment.erase(table);
  const std::string name = fs::path(arguments.measured).stem().string();
  experiment.insert_or_assign("name", names_directory("against/" + name) ? "against/" + name : "against/measurements");
  if (!arguments.machine.empty()) {
    const bool is_file = is_path(kMachineFiles, arguments.machine);
    experiment.insert_or_assign("machine", is_file ? absolute_path(arguments.machine) : arguments.machine);
  }
  const std::string file = fs::path(arguments.measured).filename().string();
  sweep_settings(experiment, measured.cells(), file);
  experiment.insert("paper", rows_of(measured.cells(), file));
  // Relative paths in the experiment are relative to the original file's folder.
  return read_unexpanded(to_toml(experiment), (base.parent_path() / file).string(), {});
}

ExitCode validate_against(const AgainstArguments& arguments, RunOptions options) {
  const MeasuredFile measured(arguments.measured);
  ExitCode code = ExitCode::done;
  const RowsRun run = run_rows({experiment_against(arguments), {""}}, arguments.experiment, std::move(options), code);
  if (code == ExitCode::interrupted) return code;
  arguments.json ? void(std::cout << cells_json(run.rows, arguments).dump(1) << "\n")
                 : print_cells(run.rows, arguments.measured, painter_for_stdout());
  for (std::size_t i = 0; i < std::min(run.rows.size(), measured.cells().size()); ++i) {
    if (measured.cells()[i].tolerance && run.rows[i].ok == false) code = larger(code, ExitCode::check_failed);
  }
  return code;
}

}  // namespace linebounce::sim
