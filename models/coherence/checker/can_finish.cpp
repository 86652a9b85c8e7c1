#include "models/coherence/checker/can_finish.hpp"

#include <algorithm>

namespace linebounce::checker {

// Goes through all states, from the last to the first, again and again until nothing changes. States are numbered in the order
// of their distance from the initial state, so most steps lead to higher numbers. A few rounds therefore suffice, and no
// reversed graph is needed.
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
