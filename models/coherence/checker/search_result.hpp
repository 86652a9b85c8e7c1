// The properties that the model checker proves, and the result of a search for violations.
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
  single_writer,    // while one cache may write, no other cache may read
  data_value,       // a copy that is read, or partly overwritten, holds the value written last
  impossible_pair,  // no (state, event) pair occurs that the table calls impossible
  one_supplier,     // at most one controller drives the data bus in an order step
  data_arrives,     // a requestor that waits for data has a supplier
  accounted,        // pending accesses and requests match the states that wait for them
  no_deadlock,      // every state has a step that changes something
  can_finish,       // from every state, a state without pending accesses can be reached
};
constexpr std::size_t kPromises = 8;

// A violated property, and a shortest sequence of steps from the initial state to the state that violates it.
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
  std::size_t steps = 0;                          // the number of steps tried, over all states
  int depth = 0;                                  // the distance, in steps, of the farthest state from the initial state
  std::optional<CheckViolation<Step>> violation;  // if set, it ended the search, and the counts above stop there
  std::vector<UnreachedRow> unreached;            // the rows that never ran; empty after a violation
};

// Thrown if the states exceed the memory limit, or if a protocol or state is too large to encode. Nothing is proved then.
// what() is a message for the user.
class CheckTooLarge : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace checker {

// Thrown when a step violates a property, or when the check of a state finds a violation.
struct Broken {
  Property property;
  std::string text;
};

}  // namespace checker

}  // namespace linebounce
