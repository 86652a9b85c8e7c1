#include "sim/plan/point_costs.hpp"

#include <algorithm>
#include <map>

namespace linebounce::sim {
namespace {

constexpr double kShortest = 1e-4;  // the least time of a run, in seconds: a run may be too short to measure
constexpr int kRounds = 20;
constexpr std::size_t kRefitShare = 20;  // refits the factors once 1/20 more points have ended

}  // namespace

PointCosts::PointCosts(const std::vector<PointPlace>& points) {
  std::vector<std::map<ConfigValue, std::size_t>> known;
  for (const PointPlace& point : points) {
    known.resize(std::max(known.size(), point.at.size()));
    std::vector<std::size_t>& values = values_.emplace_back();
    for (std::size_t path = 0; path < point.at.size(); ++path)
      values.push_back(known[path].try_emplace(point.at[path].second, known[path].size()).first->second);
  }
  for (const auto& values : known) factors_.emplace_back(values.size(), 1);
}

void PointCosts::add(int point, double seconds) {
  ended_.push_back({static_cast<std::size_t>(point), std::max(seconds, kShortest)});
}

double PointCosts::expected(int point) {
  if (!ended_.empty() && (fitted_ == 0 || ended_.size() - fitted_ > fitted_ / kRefitShare)) fit();
  return product(static_cast<std::size_t>(point));
}

double PointCosts::product(std::size_t point) const {
  double product = mean_;
  for (std::size_t path = 0; path < values_[point].size(); ++path) product *= factors_[path][values_[point][path]];
  return product;
}

// Fits factors so that their product predicts each point's time. Repeatedly takes one path at a time and scales its factors to
// match, with all others fixed. A value that has not run yet keeps the factor 1.
void PointCosts::fit() {
  fitted_ = ended_.size();
  mean_ = 0;
  for (auto& factors : factors_) std::ranges::fill(factors, 1);
  for (const Ended& run : ended_) mean_ += run.seconds / static_cast<double>(ended_.size());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t path = 0; path < factors_.size(); ++path) {
      std::vector<double> took(factors_[path].size());
      std::vector<double> without(factors_[path].size());
      for (const Ended& run : ended_) {
        const std::size_t value = values_[run.point][path];
        took[value] += run.seconds;
        without[value] += product(run.point) / factors_[path][value];
      }
      for (std::size_t value = 0; value < took.size(); ++value) {
        if (took[value] > 0) factors_[path][value] = took[value] / without[value];
      }
    }
  }
}

}  // namespace linebounce::sim
