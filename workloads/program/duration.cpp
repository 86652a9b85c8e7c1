#include "workloads/program/duration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "workloads/program/exponential.hpp"

namespace linebounce::workloads {

namespace {

constexpr std::int64_t kMostCycles = 1'000'000'000;
constexpr std::int64_t kMostWeight = 1'000'000;

std::optional<std::int64_t> number(std::string_view text, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) return std::nullopt;
  return value;
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
    const auto cycles = number(std::string_view(bin).substr(0, colon), 0, kMostCycles);
    const auto weight = number(std::string_view(bin).substr(std::min(colon + 1, bin.size())), 1, kMostWeight);
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
    case Kind::uniform:
      return mean_ <= 0 ? 0 : static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * mean_))) + 1;
    case Kind::exponential: return draw_exponential(random, mean_);
    case Kind::histogram: break;
  }
  const std::uint64_t drawn = random.below(bins_.back().up_to);
  return std::find_if(bins_.begin(), bins_.end(), [drawn](const Bin& bin) { return drawn < bin.up_to; })->cycles;
}

}  // namespace linebounce::workloads
