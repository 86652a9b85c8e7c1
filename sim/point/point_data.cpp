#include "sim/point/point_data.hpp"

#include <stdexcept>

#include "sim/point/metrics.hpp"

namespace linebounce::sim {

void PointData::add_metric(const std::string& name, std::variant<std::int64_t, double> value) {
  const MetricDeclaration* declared = find_metric(name);
#ifndef NDEBUG
  if (declared == nullptr) throw std::logic_error("metric " + name + " is not declared: sim/point/declared_metrics.cpp");
#endif
  metrics[name] = {value, declared == nullptr ? "" : std::string(declared->unit)};
}

}  // namespace linebounce::sim
