#include "models/coherence/checker/can_finish.hpp"

#include <algorithm>

namespace linebounce::checker {

// Iterates backwards over all states until nothing changes. States are numbered by their distance from the initial one, so most
// steps lead to higher numbers, and a few rounds suffice without a reversed graph.
std::optional<StateNumber> first_that_cannot_finish(const StepGraph& graph, const std::vector<bool>& quiescent) {
  std::vector<bool> finishes = quiescent;
  bool changed = true;
  while (changed) {
    changed = false;
    for (std::size_t state = finishes.size(); state-- > 0;) {
      if (finishes[state]) continue;
      const auto begin = graph.successors.begin() + static_cast<std::ptrdiff_t>(graph.first[state]);
      const auto end = graph.successors.begin() + static_cast<std::ptrdiff_t>(graph.first[state + 1]);
      if (!std::any_of(begin, end, [&](StateNumber next) { return finishes[next]; })) continue;
      finishes[state] = changed = true;
    }
  }
  const auto stuck = std::find(finishes.begin(), finishes.end(), false);
  if (stuck == finishes.end()) return std::nullopt;
  return static_cast<StateNumber>(stuck - finishes.begin());
}

}  // namespace linebounce::checker
