#include "workloads/program/metric_sink.hpp"

namespace linebounce::workloads {

void MetricSink::count(const std::string& name, const char* unit, Better better, const char* meaning,
                       std::optional<std::int64_t> value, bool headline) {
  const MetricDeclaration metric{name, unit, better, meaning, headline};
  declare(metric);
  if (value) add(metric, name, *value);
}

void MetricSink::value(const std::string& name, const char* unit, Better better, const char* meaning,
                       std::optional<double> value, bool headline) {
  const MetricDeclaration metric{name, unit, better, meaning, headline};
  declare(metric);
  if (value) add(metric, name, *value);
}

void MetricSink::mean(const std::string& name, const char* unit, Better better, const char* meaning, double sum,
                      std::int64_t samples, bool headline) {
  value(name, unit, better, meaning, samples > 0 ? std::optional(sum / static_cast<double>(samples)) : std::nullopt, headline);
}

MetricFamily MetricSink::family(const std::string& pattern, const char* unit, Better better, const char* meaning,
                                bool headline) {
  return {*this, {pattern, unit, better, meaning, headline}};
}

void MetricFamily::add(std::initializer_list<std::string_view> parts, MetricValue value) const {
  std::string name = declaration_.pattern;
  std::size_t from = 0;
  for (const std::string_view part : parts) {
    const std::size_t begin = name.find('<', from);
    name.replace(begin, name.find('>', begin) + 1 - begin, part);
    from = begin + part.size();
  }
  metrics_.add(declaration_, name, value);
}

}  // namespace linebounce::workloads
