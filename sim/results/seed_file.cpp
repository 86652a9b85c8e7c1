#include "sim/results/seed_file.hpp"

#include <nlohmann/json.hpp>

#include "sim/results/files.hpp"

namespace linebounce {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LatencyRow, kind, source, latency_cycles, latency_ns, count)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LineRow, structure, object, line, offset, field, function, access, home, source, count,
                                   remote_pct, latency_ns_mean)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LockRow, lock, call_site, util_pct, con_pct, hold_mean_us, hold_max_us, wait_mean_us,
                                   wait_max_us, cpu_pct, total, nowait, spin, rjct)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MatrixRow, from_cpu, to_cpu, home_node, state, latency_ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TransitionRow, controller, state, event, count)

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
      metric.value = value.get<std::int64_t>();
    } else {
      metric.value = value.get<double>();
    }
    metrics[name] = std::move(metric);
  }
  return metrics;
}

}  // namespace

std::string write_seed_file(const SeedFile& file) {
  const PointData& data = file.data;
  const json out = {{"hash", file.hash},
                    {"wall_s", file.wall_s},
                    {"metrics", metrics_to_json(data.metrics)},
                    {"latency", data.latency},
                    {"lines", data.lines},
                    {"locks", data.locks},
                    {"matrix", data.matrix},
                    {"transitions", data.transitions},
                    {"references", data.references},
                    {"simulated_ns", data.simulated_ns}};
  return out.dump();
}

SeedFile read_seed_file(const std::string& text) {
  try {
    const json in = json::parse(text);
    SeedFile file;
    in.at("hash").get_to(file.hash);
    in.at("wall_s").get_to(file.wall_s);
    file.data.metrics = metrics_from_json(in.at("metrics"));
    in.at("latency").get_to(file.data.latency);
    in.at("lines").get_to(file.data.lines);
    in.at("locks").get_to(file.data.locks);
    in.at("matrix").get_to(file.data.matrix);
    in.at("transitions").get_to(file.data.transitions);
    in.at("references").get_to(file.data.references);
    in.at("simulated_ns").get_to(file.data.simulated_ns);
    return file;
  } catch (const json::exception&) {
    throw InputError("not the results of a run with one seed");
  }
}

}  // namespace linebounce
