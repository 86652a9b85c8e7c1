#include "models/text/spelling.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace linebounce {
namespace {

constexpr std::size_t kLongestWord = 80;  // longer than any name; comparing a huge "word" of a binary file could take minutes

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

std::vector<std::string> nearest_few(std::string_view word, const std::vector<std::string>& candidates, std::size_t most) {
  constexpr std::size_t kShortestPart = 3;
  constexpr std::size_t kFartherThanAny = 1000;
  word = word.substr(0, kLongestWord);
  const std::size_t slip = std::max<std::size_t>(1, word.size() / 3);  // the largest distance that counts as a typing error
  std::vector<std::pair<std::size_t, std::string>> near;               // (distance, name)
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance <= slip) {
      near.emplace_back(distance, candidate);
    } else if (word.size() >= kShortestPart && candidate.find(word) != std::string::npos) {
      const std::size_t inside = candidate.starts_with(word) ? 0 : kFartherThanAny;
      near.emplace_back(slip + inside + candidate.size(), candidate);
    }
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> best;
  for (std::size_t i = 0; i < std::min(most, near.size()); ++i) best.push_back(near[i].second);
  return best;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::vector<std::string> best = nearest_few(word, candidates, 1);
  return best.empty() ? std::string{} : best.front();
}

}  // namespace linebounce
