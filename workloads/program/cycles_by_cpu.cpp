#include "workloads/program/cycles_by_cpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "models/text/whole_number.hpp"

namespace linebounce::workloads {

namespace {

constexpr std::int64_t kMostMeanCycles = 1'000'000'000;

struct CpuRange {
  std::int64_t first;
  std::int64_t last;
  std::int64_t cycles;
};

// "3:500" or "1-7:500".
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
