#include "forms/cpu_words.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "forms/line_words.hpp"

namespace linebounce::sim {
namespace {

constexpr std::array<std::string_view, 12> kCpuWords = {"processor", "thread", "core", "proc", "node", "cpu",
                                                        "tid",       "pe",     "p",    "c",    "t",    "n"};

}  // namespace

std::optional<int> cpu_number(std::string_view word) {
  constexpr std::uint64_t kMostCpus = 65535;
  constexpr std::size_t kMostDigits = 6;
  if (word.ends_with(':')) word.remove_suffix(1);
  if (word.starts_with('[') && word.ends_with(']')) word = word.substr(1, word.size() - 2);
  if (word.empty() || word.size() > kCpuWords.front().size() + kMostDigits) return std::nullopt;
  const std::string lower = lower_case(word);
  const auto* const before = std::ranges::find_if(kCpuWords, [&lower](std::string_view one) { return lower.starts_with(one); });
  const auto number = decimal(word.substr(before == kCpuWords.end() ? 0 : before->size()));
  return number && *number <= kMostCpus ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

bool announces_cpu(std::string_view word) {
  return std::ranges::find(kCpuWords, lower_case(word)) != kCpuWords.end();
}

}  // namespace linebounce::sim
