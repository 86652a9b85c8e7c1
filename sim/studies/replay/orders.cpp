#include "sim/studies/replay/orders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/lines/rank_correlation.hpp"
#include "sim/results/paired_change.hpp"

namespace linebounce::sim {

bool OrdersChange::is_gain() const {
  return median_pct >= kWorthIt && low_pct > 0;
}

bool OrdersChange::is_loss() const {
  return median_pct <= -kWorthIt && high_pct < 0;
}

// Differences of percentages, not of throughputs: an order in which everything is slow counts as much as any other.
OrdersChange orders_change(const std::vector<double>& base, const std::vector<double>& changed) {
  std::vector<double> shares;
  std::vector<double> changes;
  for (std::size_t i = 0; i < base.size(); ++i) {
    shares.push_back(100 * changed[i] / base[i]);
    changes.push_back(shares.back() - 100);
  }
  const PairedChange mean = paired_change(std::vector<double>(base.size(), 100), shares);
  return {median(changes), mean.change_pct - mean.ci95_pct, mean.change_pct + mean.ci95_pct};
}

std::string text_of(const OrdersChange& change) {
  return fmt::format("{:+.1f} % ({:.1f} to {:.1f})", change.median_pct, change.low_pct, change.high_pct);
}

void repeat_in_orders(ReplayStudy& study, int first, int count) {
  toml::array numbers;
  const std::size_t trials = study.sweep.empty() ? 1 : study.sweep.front().second.size();
  for (int order = first; order < first + count; ++order) {
    for (std::size_t trial = 0; trial < trials; ++trial) numbers.push_back(order);
  }
  for (auto& [path, values] : study.sweep) {
    const toml::array once = values;
    for (int order = 1; order < count; ++order) {
      for (const toml::node& value : once) values.push_back(value);
    }
  }
  study.sweep.insert(study.sweep.begin(), {"workload.order", std::move(numbers)});
}

TrialsInOrders::TrialsInOrders(const std::vector<ReportedPoint>& points, int count) {
  const auto trials = static_cast<std::ptrdiff_t>(points.size()) / count;
  for (auto point = points.begin(); point != points.end(); point += trials) {
    if (point->finished && metric_of(*point, kThroughput) > 0) orders_.emplace_back(point, point + trials);
  }
}

bool TrialsInOrders::finished(std::size_t trial) const {
  return std::all_of(orders_.begin(), orders_.end(), [&](const auto& order) { return order[trial].finished; });
}

std::vector<double> TrialsInOrders::figures(std::size_t trial,
                                            const std::function<double(const ReportedPoint&)>& figure) const {
  std::vector<double> values;
  values.reserve(orders_.size());
  for (const std::vector<ReportedPoint>& order : orders_) values.push_back(figure(order[trial]));
  return values;
}

std::vector<double> TrialsInOrders::throughputs(std::size_t trial) const {
  return figures(trial, [](const ReportedPoint& point) { return metric_of(point, kThroughput); });
}

OrdersChange TrialsInOrders::change(std::size_t trial) const {
  return orders_change(throughputs(0), throughputs(trial));
}

}  // namespace linebounce::sim
