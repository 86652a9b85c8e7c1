#include "workloads/program/duration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "models/text/whole_number.hpp"
#include "workloads/program/times.hpp"

namespace linebounce::workloads {
namespace {

constexpr std::int64_t kMostBinCycles = 1'000'000'000;
constexpr std::int64_t kMostWeight = 1'000'000;

constexpr std::int64_t kExponentialMeans = std::int64_t{1} << 26;  // draw_exponential() requires a smaller mean

constexpr std::int64_t kMostMeanCycles = 1'000'000'000;

struct CpuRange {
  std::int64_t first;
  std::int64_t last;
  std::int64_t cycles;
};

// Parses "3:500" or "1-7:500". Returns nothing for any other form.
std::optional<CpuRange> cpu_range(std::string_view word, int cpus) {
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view range = word.substr(0, colon);
  const std::size_t dash = std::min(range.find('-'), range.size());
  const auto first = whole_number(range.substr(0, dash), 0, cpus - 1);
  const auto last = dash == range.size() ? first : whole_number(range.substr(dash + 1), 0, cpus - 1);
  const auto cycles = whole_number(word.substr(colon + 1), 0, kMostMeanCycles);
  if (!first || !last || !cycles || *last < *first) return std::nullopt;
  return CpuRange{*first, *last, *cycles};
}

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
    const auto cycles = whole_number(std::string_view(bin).substr(0, colon), 0, kMostBinCycles);
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
        fmt::format("workload.{}: \"{}\" is not a distribution; legal: constant, uniform, exponential, two_point, or "
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
  return std::ranges::find_if(bins_, [drawn](const Bin& bin) { return drawn < bin.up_to; })->cycles;
}

std::vector<std::int64_t> cycles_by_cpu(const std::string& parameter, const std::string& text, std::int64_t otherwise,
                                        int cpus) {
  std::vector<std::int64_t> means(cpus, otherwise);
  std::vector<bool> named(means.size());
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::optional<CpuRange> range = cpu_range(word, cpus);
    if (!range)
      throw std::invalid_argument(
          fmt::format("workload.{}: \"{}\" gives no CPU its cycles; legal: \"0:50000 1-7:500\" "
                      "(CPU or first-last, from 0 to {}, then cycles from 0 to {})",
                      parameter, word, cpus - 1, kMostMeanCycles));
    for (auto cpu = range->first; cpu <= range->last; ++cpu) {
      if (named[cpu]) throw std::invalid_argument(fmt::format("workload.{}: CPU {} is named twice", parameter, cpu));
      named[cpu] = true;
      means[cpu] = range->cycles;
    }
  }
  return means;
}

}  // namespace linebounce::workloads
