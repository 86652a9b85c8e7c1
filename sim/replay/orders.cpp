#include "sim/replay/orders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/lines/rank_correlation.hpp"
#include "sim/results/logarithm.hpp"
#include "sim/results/paired_change.hpp"

namespace linebounce::sim {
namespace {

constexpr double kFactorAbove = 200;  // in percent; a larger change is shown as a factor

bool is_factor(double change_pct) {
  return change_pct > kFactorAbove;
}

std::string change_text_of(double change_pct) {
  return is_factor(change_pct) ? fmt::format("{:.1f} times as fast", 1 + change_pct / 100)
                               : fmt::format("{:+.1f} %", change_pct);
}

double percent_of_log(double logarithm) {
  return 100 * exponential_less_one(logarithm);
}

// Says how the gain depends on the speed of computation, which no recording tells for another machine.
std::string pace_text(const OrdersChange& change) {
  if (!change.over_pace) return {};
  const auto [fast, slow] = *change.over_pace;
  const std::string both =
      fmt::format("{} if the program computes fast, {} if slowly", change_text_of(fast), change_text_of(slow));
  const bool keeps_sign = (fast > 0) == (change.median_pct > 0) && (slow > 0) == (change.median_pct > 0);
  return (keeps_sign ? "; " : "; its sign is not certain: ") + both;
}

}  // namespace

bool OrdersChange::is_gain() const {
  return tries_otherwise_pct <= kMostTriesOtherwise && median_pct >= kWorthIt && low_pct > 0;
}

bool OrdersChange::is_loss() const {
  return tries_otherwise_pct <= kMostTriesOtherwise && median_pct <= -kWorthIt && high_pct < 0;
}

bool OrdersChange::is_undecided() const {
  return tries_otherwise_pct <= kMostTriesOtherwise && !is_gain() && least_pct >= kWorthIt;
}

double OrdersChange::promise_pct() const {
  return is_gain() ? median_pct : is_undecided() ? least_pct : 0;
}

// Averages the logarithms of the factors. An order in which everything is slow then counts as much as any other, and halving
// the speed is as large a change as doubling it.
OrdersChange orders_change(const std::vector<double>& base, const std::vector<double>& changed) {
  const std::vector<double> ones(base.size(), 1);
  std::vector<double> logarithms, above_one;
  for (std::size_t i = 0; i < base.size(); ++i) {
    logarithms.push_back(natural_logarithm(changed[i] / base[i]));
    above_one.push_back(1 + logarithms.back());
  }
  const PairedChange mean = paired_change(ones, above_one);  // in percent of 1
  const auto [least, most] = std::minmax_element(logarithms.begin(), logarithms.end());
  return {.median_pct = percent_of_log(median(logarithms)),
          .low_pct = percent_of_log((mean.change_pct - mean.ci95_pct) / 100),
          .high_pct = percent_of_log((mean.change_pct + mean.ci95_pct) / 100),
          .least_pct = percent_of_log(*least),
          .most_pct = percent_of_log(*most),
          .orders = base.size()};
}

std::string why_no_verdict(double tries_otherwise_pct) {
  if (tries_otherwise_pct <= kMostTriesOtherwise) return {};
  return fmt::format("{:.1f} % of the program's tries of locks went another way than recorded", tries_otherwise_pct);
}

std::string tries_text(double tries_otherwise_pct, const char* before) {
  if (tries_otherwise_pct <= 0) return {};
  return fmt::format("{}{:.2g} % of the program's tries of locks went another way than recorded", before, tries_otherwise_pct);
}

std::string text_of(const OrdersChange& change) {
  if (!change.has_size) return change.median_pct > 0 ? "a gain, size not known" : "a loss, size not known";
  const bool factor = is_factor(change.median_pct);
  return fmt::format("{} ({}{}{})", change_text_of(change.median_pct), interval_text(change, factor), pace_text(change),
                     tries_text(change.tries_otherwise_pct, "; "));
}

std::string interval_text(const OrdersChange& change, bool as_factor) {
  const auto end = [as_factor](double pct) { return fmt::format("{:.1f}", as_factor ? 1 + pct / 100 : pct); };
  if (change.orders == 0 || end(change.least_pct) != end(change.most_pct))
    return fmt::format("{} to {}", end(change.low_pct), end(change.high_pct));
  return change.orders == 2 ? "the same in both" : fmt::format("the same in all {}", change.orders);
}

std::string throughput_text(const OrdersChange& change) {
  if (!change.has_size) return text_of(change);
  return text_of(change) + (is_factor(change.median_pct) ? "" : " throughput");
}

std::string throughput_text(double change_pct) {
  return change_text_of(change_pct) + (is_factor(change_pct) ? "" : " throughput");
}

std::string gains_text(const OrdersChange& change) {
  if (!change.has_size) return "is " + text_of(change);
  return (is_factor(change.median_pct) ? "makes it " : "gains ") + text_of(change);
}

std::vector<OrderRange> confirming_orders(const OrdersChange& chosen, int orders) {
  const OrderRange as_many{1 + orders, orders}, more{1 + 2 * orders, 2 * orders};
  if (chosen.is_undecided()) return {more};
  return {as_many, more};
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
  return std::ranges::all_of(
      orders_, [&](const auto& order) { return order[trial].finished && metric_of(order[trial], kThroughput) > 0; });
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

double TrialsInOrders::tries_otherwise_pct(std::size_t trial) const {
  const std::vector<double> shares = figures(trial, [](const ReportedPoint& it) { return metric_of(it, kTriesOtherwise); });
  return shares.empty() ? 0 : *std::ranges::max_element(shares);
}

OrdersChange TrialsInOrders::change(std::size_t trial) const {
  OrdersChange change = orders_change(throughputs(0), throughputs(trial));
  change.tries_otherwise_pct = std::max(tries_otherwise_pct(0), tries_otherwise_pct(trial));
  return change;
}

}  // namespace linebounce::sim
