#include "sim/point/paper_row.hpp"

namespace linebounce::sim {

Better direction_of(const PaperRow& row) {
  if (row.better) return *row.better;
  const MetricDeclaration* metric = find_metric(row.metrics.front());
  return metric == nullptr ? Better::neither : metric->better;
}

std::string_view to_string(ChangeSign sign) {
  return kSignWords.at(static_cast<std::size_t>(sign));
}

}  // namespace linebounce::sim
