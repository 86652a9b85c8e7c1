#include "sim/results/seed_file.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/results/json_members.hpp"
#include "sim/results/result_files.hpp"
#include "trace/fingerprint.hpp"

namespace linebounce::sim {

// Defines both conversions of a row with these members.
#define LINEBOUNCE_TAKE(member) take(in.at(#member), row.member);
#define LINEBOUNCE_ROW(Row, ...)                                                     \
  static void to_json(nlohmann::json& nlohmann_json_j, const Row& nlohmann_json_t) { \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))         \
  }                                                                                  \
  static void from_json(const nlohmann::json& in, Row& row) {                        \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(LINEBOUNCE_TAKE, __VA_ARGS__))          \
  }
LINEBOUNCE_ROW(LatencyRow, kind, source, latency_cycles, latency_ns, count)
LINEBOUNCE_ROW(MeanWaits, ns)
LINEBOUNCE_ROW(LockRow, lock, call_site, util_pct, con_pct, hold_mean_us, hold_max_us, wait_mean_us, wait_max_us, cpu_pct,
               total, nowait, spin, rjct, misses, miss_ns_mean, waits)
LINEBOUNCE_ROW(CpiRow, cpu, function, instructions, parts)
LINEBOUNCE_ROW(MatrixRow, from_cpu, to_cpu, home_node, state, latency_ns)
LINEBOUNCE_ROW(SeriesRow, time_us, name, value)
LINEBOUNCE_ROW(TransitionRow, controller, state, event, count)
#undef LINEBOUNCE_ROW
#undef LINEBOUNCE_TAKE

namespace {

using nlohmann::json;

json metrics_to_json(const std::map<std::string, Metric>& metrics) {
  json out = json::object();
  for (const auto& [name, metric] : metrics) {
    json value = std::visit([](auto v) { return json(v); }, metric.value);
    out[name] = {{"value", std::move(value)}, {"unit", metric.unit}};
  }
  return out;
}

std::map<std::string, Metric> metrics_from_json(const json& in) {
  std::map<std::string, Metric> metrics;
  for (const auto& [name, entry] : in.items()) {
    const json& value = entry.at("value");
    Metric metric{0.0, entry.at("unit").get<std::string>()};
    if (value.is_number_integer()) {
      metric.value = taken<std::int64_t>(value);
    } else {
      metric.value = value.get<double>();
    }
    metrics[name] = std::move(metric);
  }
  return metrics;
}

std::string line_text(const LineRow& row) {
  const json out = {row.structure,  row.object,          row.line,           row.offset,          row.field,
                    row.function,   row.access,          row.home,           row.source,          row.count,
                    row.remote_pct, row.latency_ns_mean, cpu_list(row.cpus), row.waits.value().ns};
  return out.dump() + "\n";
}

LineRow line_from(std::string_view text) {
  const json in = json::parse(text);
  LineRow row;
  take(in.at(0), row.structure);
  take(in.at(1), row.object);
  take(in.at(2), row.line);
  take(in.at(3), row.offset);
  take(in.at(4), row.field);
  take(in.at(5), row.function);
  take(in.at(6), row.access);
  take(in.at(7), row.home);
  take(in.at(8), row.source);
  take(in.at(9), row.count);
  take(in.at(10), row.remote_pct);
  take(in.at(11), row.latency_ns_mean);
  const std::optional<CpuSet> cpus = read_cpu_list(in.at(12).get<std::string>());
  if (!cpus) throw InputError("the results of one seed have no list of CPUs");
  row.cpus = *cpus;
  in.at(13).get_to(row.waits->ns);
  return row;
}

// The text before the last line, which holds its checksum. Errors: InputError.
std::string_view without_checksum(std::string_view text) {
  constexpr std::size_t kLastLine = 16 + 1;
  if (text.size() < kLastLine) throw InputError("the results of one seed are cut off");
  const std::string_view content = text.substr(0, text.size() - kLastLine);
  if (text.substr(content.size()) != trace::fingerprint_of(content) + "\n")
    throw InputError("the results of one seed have changed since they were written");
  return content;
}

// Takes a line, without its end, from the front of `text`; all of it if there is no line end.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

}  // namespace

std::string write_seed_file(const SeedFile& file) {
  const PointData& data = file.data;
  const json out = {{"hash", file.hash},
                    {"wall_s", file.wall_s},
                    {"metrics", metrics_to_json(data.metrics)},
                    {"latency", data.latency},
                    {"lines", data.lines.size()},
                    {"locks", data.locks},
                    {"cpi", data.cpi},
                    {"matrix", data.matrix},
                    {"series", data.series},
                    {"transitions", data.transitions},
                    {"references", data.references},
                    {"simulated_ns", data.simulated_ns}};
  std::string text = out.dump() + "\n";
  for (const LineRow& row : data.lines) text += line_text(row);
  text += trace::fingerprint_of(text);
  text += '\n';
  return text;
}

SeedFile read_seed_file(std::string_view text) {
  try {
    text = without_checksum(text);
    const json in = json::parse(take_line(text));
    SeedFile file;
    in.at("hash").get_to(file.hash);
    in.at("wall_s").get_to(file.wall_s);
    file.data.metrics = metrics_from_json(in.at("metrics"));
    in.at("latency").get_to(file.data.latency);
    in.at("locks").get_to(file.data.locks);
    if (in.contains("cpi")) in.at("cpi").get_to(file.data.cpi);  // files of older builds have none
    in.at("matrix").get_to(file.data.matrix);
    if (in.contains("series")) in.at("series").get_to(file.data.series);  // files of older builds have none
    in.at("transitions").get_to(file.data.transitions);
    take(in.at("references"), file.data.references);
    take(in.at("simulated_ns"), file.data.simulated_ns);
    const auto lines = taken<std::size_t>(in.at("lines"));
    file.data.lines.reserve(std::min(lines, text.size()));  // a damaged file may have any number
    while (file.data.lines.size() < lines) file.data.lines.push_back(line_from(take_line(text)));
    return file;
  } catch (const json::exception&) {
    throw InputError("not the results of a run with one seed");
  }
}

}  // namespace linebounce::sim
