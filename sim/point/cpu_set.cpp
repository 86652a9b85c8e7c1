#include "sim/point/cpu_set.hpp"

#include <bit>
#include <charconv>

namespace linebounce::sim {

void CpuSet::set(std::size_t cpu) {
  const std::size_t word = cpu / kOfWord;
  const std::uint64_t bit = std::uint64_t{1} << cpu % kOfWord;
  if (word == 0) {
    first_ |= bit;
    return;
  }
  if (more_.size() < word) more_.resize(word);
  more_[word - 1] |= bit;
}

std::size_t CpuSet::count() const {
  auto count = static_cast<std::size_t>(std::popcount(first_));
  for (const std::uint64_t word : more_) count += static_cast<std::size_t>(std::popcount(word));
  return count;
}

CpuSet& CpuSet::operator|=(const CpuSet& other) {
  first_ |= other.first_;
  if (more_.size() < other.more_.size()) more_.resize(other.more_.size());
  for (std::size_t i = 0; i < other.more_.size(); ++i) more_[i] |= other.more_[i];
  return *this;
}

std::string cpu_list(const CpuSet& cpus) {
  std::string text;
  for (std::size_t first = 0; first < cpus.size(); ++first) {
    if (!cpus[first]) continue;
    std::size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1]) ++last;
    if (!text.empty()) text += ",";
    text += std::to_string(first);
    if (last > first) text += "-" + std::to_string(last);
    first = last;
  }
  return text;
}

std::optional<CpuSet> read_cpu_list(std::string_view text) {
  CpuSet cpus;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(part.size());
    if (!text.empty()) text.remove_prefix(1);
    std::size_t first = 0, last = 0;
    const char* const end = part.data() + part.size();
    auto [at, error] = std::from_chars(part.data(), end, first);
    if (error != std::errc{}) return std::nullopt;
    last = first;
    if (at != end && *at == '-') {
      const auto rest = std::from_chars(at + 1, end, last);
      if (rest.ec != std::errc{}) return std::nullopt;
      at = rest.ptr;
    }
    if (at != end || last < first || last >= CpuSet::size()) return std::nullopt;
    for (std::size_t cpu = first; cpu <= last; ++cpu) cpus.set(cpu);
  }
  return cpus;
}

}  // namespace linebounce::sim
