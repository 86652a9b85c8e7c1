#include "models/text/spelling.hpp"

#include <algorithm>
#include <numeric>

namespace linebounce {
namespace {

constexpr std::size_t kLongestWord = 80;  // no name is longer; a binary file's "word" must not take minutes

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same(char a, char b) {
  return lower(a) == lower(b);
}

}  // namespace

std::size_t edit_distance(std::string_view from, std::string_view to) {
  const std::size_t width = to.size() + 1;
  std::vector<std::size_t> before_last(width), last(width), row(width);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (same(from[i - 1], to[j - 1]) ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && same(from[i - 1], to[j - 2]) && same(from[i - 2], to[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[to.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  word = word.substr(0, kLongestWord);
  const std::string* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;  // from here on it is another word, not a slip
  for (const auto& candidate : candidates) {
    const auto distance = edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best = &candidate;
    best_distance = distance;
  }
  if (best != nullptr) return *best;
  constexpr std::size_t kShortestPart = 3;
  if (word.size() < kShortestPart) return {};
  const auto whole = std::find_if(candidates.begin(), candidates.end(),
                                  [word](const std::string& candidate) { return candidate.find(word) != std::string::npos; });
  return whole == candidates.end() ? std::string{} : *whole;
}

}  // namespace linebounce
