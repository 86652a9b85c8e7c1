// The properties that the checker proves, and the result of its search for a violation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/coherence/protocol.hpp"

namespace linebounce {

enum class Property : std::uint8_t {
  single_writer,    // if one cache may write, no other may read
  data_value,       // a copy that is read, or partly written, has the value written last
  impossible_pair,  // no (state, event) pair that the table calls impossible
  one_supplier,     // one controller drives the data bus in an order step
  data_arrives,     // a requestor that waits for data has a supplier
  accounted,        // every pending access and request belongs to exactly one waiting state
  no_deadlock,      // every state has a step that changes something
  can_finish,       // from every state, a state without pending accesses can be reached
};
constexpr std::size_t kPromises = 8;

// A shortest sequence of steps from the initial state to a violated property.
template <class Step>
struct CheckViolation {
  Property property{};
  std::string text;
  std::vector<Step> steps;
};

struct UnreachedRow {
  Controller controller{};
  StateId state = 0;
  EventId event = 0;
  int source_line = 0;
};

template <class Step>
struct SearchResult {
  std::size_t states = 0;
  std::size_t steps = 0;                          // tried from all states
  int depth = 0;                                  // distance of the farthest state from the initial one
  std::optional<CheckViolation<Step>> violation;  // ends the search: states, steps and depth count up to it
  std::vector<UnreachedRow> unreached;            // rows that never ran; empty after a violation
};

// Too many states for the memory limit, or a table too large for the encoding of a state. Nothing is proved. what() is a text
// for a user.
class CheckTooLarge : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace checker {

// Thrown by a step that violates a property, and by the check of a state that does.
struct Broken {
  Property property;
  std::string text;
};

}  // namespace checker

}  // namespace linebounce
