#include "evidence/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sim/config/experiment.hpp"
#include "sim/config/machine_file.hpp"
#include "sim/config/machine_tables.hpp"
#include "sim/point/measured_table.hpp"
#include "sim/results/numbers.hpp"
#include "sim/results/result_files.hpp"

namespace linebounce::sim {
namespace {

constexpr double kNear = 0.15;
constexpr double kFar = 0.30;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

bool is_series(const PaperRow& row) {
  return row.is_order() || row.shape != Shape::none;
}

double factor_of(double ratio) {
  return ratio <= 0 ? kInfinite : std::max(ratio, 1 / ratio);
}

std::optional<double> middle_of(const std::vector<double>& sorted) {
  if (sorted.empty()) return std::nullopt;
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

void insert_sorted(std::vector<double>& sorted, double value) {
  sorted.insert(std::ranges::upper_bound(sorted, value), value);
}

// The last part of a metric's name, which says what is measured: `con_pct` of `locks.dcache_lock.d_lookup.con_pct`.
std::string_view column_of(const PaperRow& row) {
  const std::string_view metric = row.metrics.front();
  return metric.substr(metric.rfind('.') + 1);
}

// How far a result is off, for sorting; larger is worse.
double distance(const PaperResult& result) {
  const auto ratio = simulated_over_published(result);
  if (is_series(result.row) || sign_is_right(result) == false) return kInfinite;
  return ratio ? factor_of(*ratio) : 1;
}

using nlohmann::ordered_json;

constexpr const char* kRecordSchema = "linebounce.first_runs/1";

ordered_json optional_to_json(const std::optional<double>& value) {
  return value ? number_to_json(*value) : ordered_json(nullptr);
}

std::optional<double> optional_from_json(const ordered_json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

std::vector<std::optional<double>> figures_of(const PaperResult& result) {
  return result.series.empty() ? std::vector{result.simulated} : result.series;
}

// The parts of a row that must remain as published.
ordered_json published_to_json(const PaperRow& row) {
  ordered_json out;
  if (row.is_order()) {
    out["order"] = row.metrics;
  } else {
    out["metric"] = row.metrics.front();
  }
  if (!row.of.empty()) out["of"] = row.of;
  if (row.difference) out["difference"] = true;
  if (row.value) out["value"] = number_to_json(*row.value);
  if (row.sign) out["sign"] = to_string(*row.sign);
  if (row.visible != kVisibleChange) out["visible"] = number_to_json(row.visible);
  if (row.tolerance) out["tolerance"] = number_to_json(*row.tolerance);
  if (row.tolerance_abs) out["tolerance_abs"] = number_to_json(*row.tolerance_abs);
  if (row.shape != Shape::none) {
    out["shape"] = to_string(row.shape);
    out["over"] = row.over;
  }
  return out;
}

ordered_json first_run_to_json(const PaperResult& result) {
  ordered_json out = {{"published", published_to_json(result.row)}};
  ordered_json simulated = ordered_json::array();
  for (const auto& value : figures_of(result)) simulated.push_back(optional_to_json(value));
  out["simulated"] = std::move(simulated);
  if (result.change) {
    out["change"] = number_to_json(result.change->share);
    if (result.change->sign) out["sign"] = to_string(*result.change->sign);
  }
  out["ok"] = *result.ok;
  return out;
}

FirstRun first_run_from_json(const ordered_json& run, const ordered_json& in) {
  FirstRun first;
  first.date = run.at("date").get<std::string>();
  for (const ordered_json& value : in.at("simulated")) first.simulated.push_back(optional_from_json(value));
  if (in.contains("change")) first.change = in.at("change").get<double>();
  if (in.contains("sign")) {
    const auto* const word = std::ranges::find(kSignWords, in.at("sign").get<std::string>());
    if (word == kSignWords.end()) throw InputError("a sign is gain, loss or none");
    first.sign = static_cast<ChangeSign>(word - kSignWords.begin());
  }
  first.ok = in.at("ok").get<bool>();
  first.is_first = run.at("first").get<bool>();
  first.because = run.at("because").get<std::string>();
  return first;
}

// The parameters that a machine's file states, without names and sources.
ordered_json given_parameters(const std::string& machine) {
  const MachineTables tables = read_machine_file(machine, "", "");
  ordered_json out = ordered_json::object();
  for (const auto& [path, setting] : tables.settings) {
    if (tables.defaults.contains(path) || path == "machine.name" || path == "machine.title") continue;
    out[path.substr(path.find('.') + 1)] = value_to_json(canonical(setting.value));
  }
  return out;
}

// The first row whose miss is explained already, so that it must have been run before. Null if there is none.
const ValidatedRow* find_explained(const std::vector<ValidatedRow>& rows) {
  const auto found = std::ranges::find_if(rows, [](const auto& row) { return !row.result.row.why_off.empty(); });
  return found == rows.end() ? nullptr : &*found;
}

ordered_json read_record(const std::filesystem::path& file) {
  try {
    ordered_json record = ordered_json::parse(read_file(file));
    if (record.at("schema") != kRecordSchema)
      throw InputError(fmt::format("{}: its schema isn't {}", file.string(), kRecordSchema));
    return record;
  } catch (const ordered_json::exception&) {
    throw InputError(fmt::format("{}: cut off or damaged: no record of first runs", file.string()));
  }
}

}  // namespace

PaperResult at_first_run(const ValidatedRow& row) {
  PaperResult result = row.result;
  const FirstRun& first = *row.first;
  if (result.series.empty()) {
    result.simulated = first.simulated.empty() ? std::nullopt : first.simulated.front();
    result.ratio.reset();
    if (result.simulated && result.row.value.value_or(0) != 0) result.ratio = rounded(*result.simulated / *result.row.value);
  } else {
    result.series = first.simulated;
  }
  result.change.reset();
  if (first.change) result.change = SimulatedChange{*first.change, std::nullopt, first.sign};
  result.ok = first.ok;
  return result;
}

bool has_moved(const ValidatedRow& row) {
  return row.first && row.first->is_first && row.first->simulated != figures_of(row.result);
}

std::filesystem::path record_file(const std::string& experiment) {
  const std::filesystem::path name(experiment);
  return project_root() / "configs/experiments" / name.parent_path() / "records" / (name.filename().string() + ".json");
}

std::map<std::string, FirstRun> read_first_runs(const std::filesystem::path& file) {
  std::map<std::string, FirstRun> rows;
  if (!is_there(file)) return rows;
  const ordered_json record = read_record(file);
  try {
    for (const ordered_json& run : record.at("runs")) {
      for (const auto& [id, row] : run.at("rows").items()) rows.emplace(id, first_run_from_json(run, row));
    }
  } catch (const ordered_json::exception&) {
    throw InputError(fmt::format("{}: cut off or damaged: no record of first runs", file.string()));
  }
  return rows;
}

int record_first_runs(const std::filesystem::path& file, const std::vector<ValidatedRow>& rows, const std::string& date) {
  const auto known = read_first_runs(file);
  const auto* const explained = find_explained(rows);
  ordered_json run = {
      {"date", date},
      {"first", explained == nullptr},
      {"because", explained == nullptr ? "no miss of the experiment was explained yet"
                                       : "a miss was explained before this record: " + explained->result.row.id},
      {"machines", ordered_json::object()},
      {"rows", ordered_json::object()}};
  const std::vector<std::string> machines = machine_names();
  for (const ValidatedRow& row : rows) {
    if (!row.result.ok || known.contains(row.result.row.id)) continue;
    run["rows"][row.result.row.id] = first_run_to_json(row.result);
    if (std::ranges::find(machines, row.machine) != machines.end())
      run["machines"][row.machine] = given_parameters(row.machine);
  }
  const auto added = static_cast<int>(run.at("rows").size());
  if (added == 0) return 0;
  ordered_json record =
      is_there(file)
          ? read_record(file)
          : ordered_json{{"schema", kRecordSchema}, {"experiment", rows.front().experiment}, {"runs", ordered_json::array()}};
  record["runs"].push_back(std::move(run));
  make_directories(file.parent_path());
  write_file(file, record.dump(1) + "\n");
  return added;
}

std::optional<double> simulated_over_published(const PaperResult& result) {
  const PaperRow& row = result.row;
  if (!row.value || *row.value == 0 || !row.table.empty()) return std::nullopt;
  const double published = row.is_change() ? 1 + *row.value : *row.value;
  if (row.is_change() && (published <= 0 || std::abs(1 / published - 1) <= kNear)) return std::nullopt;
  if (!result.simulated) return result.ok ? std::optional(kInfinite) : std::nullopt;
  return row.is_change() ? (1 + *result.simulated) / published : *result.simulated / published;
}

std::optional<double> ValidationScore::median_error() const {
  return middle_of(errors);
}

std::optional<double> ValidationScore::median_factor() const {
  return middle_of(factors);
}

std::optional<bool> sign_is_right(const PaperResult& result) {
  const auto published = published_sign(result.row);
  if (!published || !result.ok) return std::nullopt;
  return result.change && result.change->sign == published;
}

bool is_miss(const PaperResult& result) {
  return result.ok == false || sign_is_right(result) == false;
}

FigureKind figure_kind(const PaperResult& result) {
  const PaperRow& row = result.row;
  if (is_series(row)) return FigureKind::order;
  if (row.metrics.front().starts_with("locks.")) return FigureKind::lock;
  if (row.relative_to || !row.of.empty() || result.unit == "%") return FigureKind::ratio;
  return result.unit == "ns" || result.unit == "us" || result.unit == "ms" ? FigureKind::latency : FigureKind::other;
}

bool trivial_guess_is_right(const PaperResult& result, const std::vector<const PaperResult*>& rows) {
  const PaperRow& row = result.row;
  if (is_series(row)) return row.shape == Shape::flat;
  if (row.sign && (row.relative_to || !row.value)) return row.sign == ChangeSign::none;
  if (row.relative_to) return within_tolerance(row, 0) == true;
  if (!row.table.empty())
    return std::ranges::any_of(kTrivialShares, [&](double share) { return within_tolerance(row, share) == true; });
  std::vector<double> others;
  for (const PaperResult* other : rows) {
    const PaperRow& its = other->row;
    if (other == &result || is_series(its) || its.relative_to || !its.value || column_of(its) != column_of(row)) continue;
    insert_sorted(others, *its.value);
  }
  const auto guess = middle_of(others);
  return guess && within_tolerance(row, *guess) == true;
}

void count(ValidationScore& score, const PaperResult& result) {
  if (!result.ok) return;
  ++score.rows;
  if (*result.ok && !result.row.broken_by.empty()) ++score.with_break;
  score.within_tolerance.count(*result.ok);
  if (is_series(result.row)) score.orders.count(*result.ok);
  if (const auto right = sign_is_right(result)) score.signs.count(*right);
  const auto ratio = simulated_over_published(result);
  if (!ratio) return;
  const double error = std::abs(*ratio - 1);
  insert_sorted(score.errors, error);
  insert_sorted(score.factors, factor_of(*ratio));
  score.within_15.count(error <= kNear);
  score.within_30.count(error <= kFar);
}

std::vector<const ValidatedRow*> misses_of(const std::vector<ValidatedRow>& rows) {
  std::vector<const ValidatedRow*> misses;
  for (const ValidatedRow& row : rows) {
    if (is_miss(row.result)) misses.push_back(&row);
  }
  std::ranges::stable_sort(misses, [](const auto* a, const auto* b) { return distance(a->result) > distance(b->result); });
  return misses;
}

}  // namespace linebounce::sim
