// Liveness: from which states can every pending request finish?
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "models/coherence/checker/state_set.hpp"

namespace linebounce::checker {

// For each state, the other states that one step leads to.
// For state n they are successors[first[n]] to successors[first[n + 1] - 1].
struct StepGraph {
  std::deque<std::size_t> first = {0};
  std::deque<StateNumber> successors;

  [[nodiscard]] std::size_t bytes() const {
    return first.size() * sizeof(std::size_t) + successors.size() * sizeof(StateNumber);
  }
};

// Returns the first state from which no sequence of steps leads to a quiescent state, if any. `quiescent` is indexed by state
// number. REQUIRES: `graph` holds all states.
std::optional<StateNumber> first_that_cannot_finish(const StepGraph& graph, const std::vector<bool>& quiescent);

}  // namespace linebounce::checker
