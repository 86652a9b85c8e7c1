#include "sim/studies/validate/first_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/config/experiment.hpp"
#include "sim/config/machine_file.hpp"
#include "sim/config/machine_tables.hpp"
#include "sim/results/numbers.hpp"
#include "sim/results/result_files.hpp"

namespace linebounce::sim {
namespace {

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

// What of a row must stay as it was published.
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

FirstRun first_run_from_json(const std::string& date, const ordered_json& in) {
  FirstRun first;
  first.date = date;
  for (const ordered_json& value : in.at("simulated")) first.simulated.push_back(optional_from_json(value));
  if (in.contains("change")) first.change = in.at("change").get<double>();
  if (in.contains("sign")) {
    const auto* const word = std::find(kSignWords.begin(), kSignWords.end(), in.at("sign").get<std::string>());
    if (word == kSignWords.end()) throw InputError("a sign is gain, loss or none");
    first.sign = static_cast<ChangeSign>(word - kSignWords.begin());
  }
  first.ok = in.at("ok").get<bool>();
  return first;
}

// The parameters that a machine's file gives, without what they are called and where they come from.
ordered_json given_parameters(const std::string& machine) {
  const MachineTables tables = read_machine_file(machine, "", "");
  ordered_json out = ordered_json::object();
  for (const auto& [path, setting] : tables.settings) {
    if (tables.defaults.contains(path) || path == "machine.name" || path == "machine.title") continue;
    out[path.substr(path.find('.') + 1)] = value_to_json(canonical(setting.value));
  }
  return out;
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
  return row.first && row.first->simulated != figures_of(row.result);
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
      for (const auto& [id, row] : run.at("rows").items()) rows.emplace(id, first_run_from_json(run.at("date"), row));
    }
  } catch (const ordered_json::exception&) {
    throw InputError(fmt::format("{}: cut off or damaged: no record of first runs", file.string()));
  }
  return rows;
}

int record_first_runs(const std::filesystem::path& file, const std::vector<ValidatedRow>& rows, const std::string& date) {
  const auto known = read_first_runs(file);
  ordered_json run = {{"date", date}, {"machines", ordered_json::object()}, {"rows", ordered_json::object()}};
  const std::vector<std::string> machines = machine_names();
  for (const ValidatedRow& row : rows) {
    if (!row.result.ok || known.contains(row.result.row.id)) continue;
    run["rows"][row.result.row.id] = first_run_to_json(row.result);
    if (std::find(machines.begin(), machines.end(), row.machine) != machines.end())
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

}  // namespace linebounce::sim
