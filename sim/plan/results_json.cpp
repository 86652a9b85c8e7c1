#include "sim/plan/results_json.hpp"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/results/json_members.hpp"
#include "sim/results/result_files.hpp"
#include "sim/results/run_health.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

constexpr const char* kSchema = "linebounce.results/1";

ordered_json optional_number(const std::optional<double>& value) {
  return value ? number_to_json(*value) : ordered_json(nullptr);
}

ordered_json point_to_json(const ReportedPoint& point) {
  // Appends directly: each metric occurs once, and a look-up before each insertion would take quadratic time.
  ordered_json::object_t metrics;
  metrics.reserve(point.metrics.size());
  for (const auto& [name, metric] : point.metrics) {
    ordered_json::object_t out;
    out.reserve(3);
    out.emplace_back("value", number_to_json(metric.value));
    out.emplace_back("unit", metric.unit);
    if (metric.ci95) out.emplace_back("ci95", number_to_json(*metric.ci95));
    metrics.emplace_back(name, std::move(out));
  }
  ordered_json out = {{"at", at_to_json(point.at)}, {"metrics", std::move(metrics)}};
  if (std::vector<std::string> warnings = health_warnings(point); !warnings.empty()) out["warnings"] = std::move(warnings);
  return out;
}

ordered_json ok_to_json(const std::optional<bool>& ok) {
  return ok ? ordered_json(*ok) : ordered_json(nullptr);
}

ordered_json series_to_json(const PaperResult& result) {
  const PaperRow& row = result.row;
  ordered_json simulated = ordered_json::array();
  for (const auto& value : result.series) simulated.push_back(optional_number(value));
  ordered_json out = {{"id", row.id}};
  if (row.metrics.size() > 1) {
    out["order"] = row.metrics;
  } else {
    out["metric"] = row.metrics.front();
  }
  out["at"] = at_to_json(row.at);
  if (row.metrics.size() == 1) {
    out["shape"] = to_string(row.shape);
    out["over"] = row.over;
  }
  out["simulated"] = std::move(simulated);
  out["unit"] = result.unit;
  return out;
}

void add_signs(ordered_json& out, const PaperResult& result) {
  const auto& change = result.change;
  out["sign"] = to_string(*result.row.sign);
  out["visible"] = number_to_json(result.row.visible);
  out["simulated_change"] = change ? number_to_json(change->share) : ordered_json(nullptr);
  if (change && change->ci95) out["ci95"] = number_to_json(*change->ci95);
  out["simulated_sign"] = change && change->sign ? ordered_json(to_string(*change->sign)) : ordered_json(nullptr);
}

ordered_json value_row_to_json(const PaperResult& result) {
  const PaperRow& row = result.row;
  ordered_json out = {{"id", row.id}, {"metric", row.metrics.front()}, {"at", at_to_json(row.at)}};
  if (!row.of.empty()) out["of"] = row.of;
  if (row.relative_to) {
    out["relative_to"] = at_to_json(*row.relative_to);
    out["difference"] = row.difference;
  }
  out["paper"] = optional_number(row.value);
  out["simulated"] = optional_number(result.simulated);
  out["unit"] = result.unit;
  out["ratio"] = optional_number(result.ratio);
  if (row.sign) add_signs(out, result);
  return out;
}

// Takes the points' metrics out of the document while it is parsed. Left in, they would take quadratic time, because the
// parser compares each new member of an object with all earlier ones: a trace with thousands of locks has many metrics.
class MetricsTaker {
 public:
  using Metrics = std::map<std::string, ReportedMetric>;

  // A parser callback.
  bool operator()(int depth, ordered_json::parse_event_t event, const ordered_json& parsed) {
    using Event = ordered_json::parse_event_t;
    if (event == Event::key && depth <= kMetric) keys_.at(depth) = parsed.get<std::string>();
    if (keys_[kSection] != "points") return true;
    if (event == Event::object_start && depth == kPoint) taken_.emplace_back();
    if (event != Event::object_end || depth != kMetric || keys_[kOfPoint] != "metrics") return true;
    ReportedMetric metric{number_from_json(parsed.at("value")), parsed.at("unit").get<std::string>(), std::nullopt};
    if (parsed.contains("ci95")) metric.ci95 = parsed.at("ci95").get<double>();
    taken_.back().emplace(keys_[kMetric], std::move(metric));
    return false;
  }

  [[nodiscard]] std::vector<Metrics> taken() && { return std::move(taken_); }

 private:
  // Nesting depths in the document: of a section's keys, a point's keys, keys within a point, and a metric's keys.
  static constexpr int kSection = 1, kPoint = 2, kOfPoint = 3, kMetric = 4;

  std::array<std::string, kMetric + 1> keys_;
  std::vector<Metrics> taken_;
};

// `reader` receives the document without its points' metrics, and these metrics.
template <class Reader>
auto read_document(const std::string& text, Reader reader) {
  try {
    MetricsTaker metrics;
    const auto document = parsed_json<ordered_json>(text, std::ref(metrics));
    if (document.at("schema") != kSchema) {
      throw InputError(fmt::format("schema is {}, this program reads \"{}\"", document.at("schema").dump(), kSchema));
    }
    return reader(document, std::move(metrics).taken());
  } catch (const ordered_json::parse_error&) {
    throw InputError("cut off or damaged: this is not JSON");
  } catch (const ordered_json::exception&) {
    throw InputError(fmt::format("not a results.json of schema {}", kSchema));
  }
}

}  // namespace

ordered_json paper_to_json(const PaperResult& result) {
  const PaperRow& row = result.row;
  const bool series = row.shape != Shape::none || row.metrics.size() > 1;
  ordered_json out = series ? series_to_json(result) : value_row_to_json(result);
  if (row.tolerance) out["tolerance"] = number_to_json(*row.tolerance);
  if (row.tolerance_abs) out["tolerance_abs"] = number_to_json(*row.tolerance_abs);
  out["kind"] = to_string(row.kind);
  out["ok"] = ok_to_json(result.ok);
  if (!row.miss.empty()) out["miss"] = row.miss;
  if (!row.why_off.empty()) out["why_off"] = row.why_off;
  if (!row.reason_tested.empty()) out["reason_tested"] = row.reason_tested;
  if (!row.broken_by.empty()) out["broken_by"] = row.broken_by;
  return out;
}

std::string results_text(const Results& results) {
  ordered_json points = ordered_json::array();
  for (const ReportedPoint& point : results.points) points.push_back(point_to_json(point));
  ordered_json paper = ordered_json::array();
  for (const PaperResult& row : results.paper) paper.push_back(paper_to_json(row));
  ordered_json headlines = ordered_json::array();
  for (const HeadlineMetric& metric : results.headlines)
    headlines.push_back({{"metric", metric.name}, {"label", metric.label}, {"better", to_string(metric.better)}});
  ordered_json out = {{"schema", kSchema},
                      {"experiment", results.experiment},
                      {"machine", results.machine},
                      {"seed", results.seed},
                      {"answer", answer_to_json(results.answer, results.question)},
                      {"headlines", std::move(headlines)},
                      {"points", std::move(points)},
                      {"paper", std::move(paper)}};
  if (!results.assumptions.empty()) out["assumptions"] = results.assumptions;
  return out.dump(1) + "\n";
}

std::vector<ReportedPoint> read_points(const std::string& text) {
  return read_document(text, [](const ordered_json& document, std::vector<MetricsTaker::Metrics> metrics) {
    std::vector<ReportedPoint> points;
    for (const ordered_json& in : document.at("points")) {
      ReportedPoint& point = points.emplace_back();
      for (const auto& [path, value] : in.at("at").items()) point.at.emplace_back(path, value_from_json(value));
      if (in.at("metrics") != ordered_json::object()) throw ordered_json::type_error::create(302, "no metrics", &in);
      point.metrics = std::move(metrics.at(points.size() - 1));
    }
    return points;
  });
}

std::optional<int> read_answered_point(const std::string& text) {
  return read_document(text, [](const ordered_json& document, const auto& /*metrics*/) -> std::optional<int> {
    const auto answer = document.find("answer");  // absent in results of earlier versions
    if (answer == document.end() || answer->at("point").is_null()) return std::nullopt;
    return taken<int>(answer->at("point"));
  });
}

std::vector<std::string> read_assumptions(const std::string& text) {
  return read_document(text, [](const ordered_json& document, const auto& /*metrics*/) {
    return document.value("assumptions", std::vector<std::string>());
  });
}

}  // namespace linebounce::sim
