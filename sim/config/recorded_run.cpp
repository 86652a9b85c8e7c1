#include "sim/config/recorded_run.hpp"

#include <algorithm>

#include "sim/config/toml_text.hpp"
#include "trace/reader.hpp"
#include "workloads/replay/places.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

// Returns [machine] without the settings that can't change a result.
toml::table machine_of(const toml::table& resolved) {
  toml::table machine;
  if (const auto* table = resolved["machine"].as_table()) machine = *table;
  for (const auto* key : {"title", "sources"}) machine.erase(key);
  return machine;
}

bool has_recorded_locks(const toml::table& resolved) {
  const auto* locks = resolved.at_path("workload.locks").as_table();
  return locks != nullptr && std::all_of(locks->begin(), locks->end(),
                                         [](const auto& entry) { return entry.second.value_or(std::string{}) == "recorded"; });
}

bool is_text(const toml::table& resolved, std::string_view path, std::string_view text) {
  return resolved.at_path(path).value<std::string_view>() == text;
}

}  // namespace

toml::table recorded_configuration(const trace::Summary& summary) {
  if (summary.configuration.empty()) return {};
  return parse_toml(summary.configuration, "the trace's configuration");
}

bool replays_as_recorded(const toml::table& resolved, const trace::Summary& summary) {
  const toml::table recorded = recorded_configuration(summary);
  if (recorded.empty() || summary.misses.empty()) return false;
  const auto same = [&](std::string_view path) {
    return resolved.at_path(path).value<double>() == recorded.at_path(path).value<double>();
  };
  return machine_of(resolved) == machine_of(recorded) && same("run.warmup_us") && same("run.measure_us") &&
         has_recorded_locks(resolved) && is_text(resolved, "workload.threads", "one_each") &&
         resolved.at_path("workload.order").value_or(0) == 0 && is_text(resolved, "workload.placement", "recorded") &&
         !resolved.contains("placement") && !resolved.contains("layout");
}

std::string assumption_about(const trace::Reader& trace) {
  const bool draws = std::ranges::any_of(trace.symbols().objects,
                                         [&](const trace::Object& object) { return trace::page_bytes_of(trace, object) != 0; });
  return draws ? "Page frames drawn by the seed and the order: the recorded addresses are virtual." : "";
}

LayoutFile load_trace_layouts(const std::string& trace, int line_bytes) {
  return {trace, "", line_bytes, layouts_of(trace::Reader(trace).symbols())};
}

}  // namespace linebounce::sim
