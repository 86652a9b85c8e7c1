#include "models/coherence/diagnostics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "models/coherence/protocol.hpp"

namespace linebounce {
namespace {

constexpr std::size_t kMaxShown = 20;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Levenshtein's distance, upper and lower case taken as the same.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

void Diagnostics::throw_if_any() const {
  if (errors_.empty()) return;
  auto sorted = errors_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(sorted.size(), kMaxShown); ++i) {
    text += fmt::format("{}{}:{}: {}", i == 0 ? "" : "\n", file_, sorted[i].first, sorted[i].second);
  }
  if (sorted.size() > kMaxShown) text += fmt::format("\n{}: and {} more errors", file_, sorted.size() - kMaxShown);
  throw ProtocolError(text);
}

std::string hint(std::string_view unknown, const std::vector<std::string>& known) {
  const std::string* best = nullptr;
  std::size_t best_distance = unknown.size() / 3 + 2;  // further away than this is another word, not a slip
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(unknown.substr(0, 80), name);
    if (distance < best_distance) {
      best = &name;
      best_distance = distance;
    }
  }
  if (best != nullptr) return fmt::format("; did you mean '{}'?", *best);
  if (known.empty()) return "";
  return fmt::format("; known: {}", fmt::join(known, ", "));
}

}  // namespace linebounce
