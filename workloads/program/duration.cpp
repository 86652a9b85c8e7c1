#include "workloads/program/duration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "models/text/whole_number.hpp"
#include "workloads/program/exponential.hpp"
#include "workloads/program/times.hpp"

namespace linebounce::workloads {

namespace {

constexpr std::int64_t kMostCycles = 1'000'000'000;
constexpr std::int64_t kMostWeight = 1'000'000;

constexpr std::int64_t kExponentialMeans = std::int64_t{1} << 26;  // the limit of draw_exponential()

}  // namespace

Duration::Duration(const std::string& parameter, const std::string& distribution, std::int64_t mean_cycles)
    : mean_(mean_cycles) {
  if (distribution == "constant") return;
  if (distribution == "uniform") {
    kind_ = Kind::uniform;
    return;
  }
  if (distribution == "exponential") {
    if (mean_ >= kExponentialMeans)
      throw std::invalid_argument(
          fmt::format("workload.{}_cycles: {} is too large a mean of exponential times; legal: up to {}", parameter, mean_,
                      kExponentialMeans - 1));
    kind_ = Kind::exponential;
    return;
  }
  kind_ = Kind::histogram;
  if (distribution == "two_point") {
    bins_ = {{mean_ / 2, 9}, {mean_ * 11 / 2, 10}};
    return;
  }
  std::istringstream text(distribution);
  std::uint64_t weights = 0;
  for (std::string bin; text >> bin;) {
    const std::size_t colon = std::min(bin.find(':'), bin.size());
    const auto cycles = whole_number(std::string_view(bin).substr(0, colon), 0, kMostCycles);
    const auto weight = whole_number(std::string_view(bin).substr(std::min(colon + 1, bin.size())), 1, kMostWeight);
    if (!cycles || !weight) {
      bins_.clear();
      break;
    }
    weights += static_cast<std::uint64_t>(*weight);
    bins_.push_back({*cycles, weights});
  }
  if (bins_.empty() || weights > kMostWeight)
    throw std::invalid_argument(
        fmt::format("workload.{}: \"{}\" is no distribution; legal: constant, uniform, exponential, two_point, or "
                    "a histogram, \"100:9 5000:1\" (cycles:weight, weights of at most {} in all)",
                    parameter, distribution, kMostWeight));
}

std::int64_t Duration::draw(Random& random) const {
  switch (kind_) {
    case Kind::constant: return mean_;
    case Kind::uniform: return draw_about(random, mean_);
    case Kind::exponential: return draw_exponential(random, mean_);
    case Kind::histogram: break;
  }
  const std::uint64_t drawn = random.below(bins_.back().up_to);
  return std::find_if(bins_.begin(), bins_.end(), [drawn](const Bin& bin) { return drawn < bin.up_to; })->cycles;
}

}  // namespace linebounce::workloads
