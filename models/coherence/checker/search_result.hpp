// What a protocol properties, and what a search for a broken property has found.
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
  single_writer,    // where one cache can write, no other can read
  data_value,       // a copy that is read, or written in part, has the value written last
  impossible_pair,  // no pair of state and event that the table calls impossible
  one_supplier,     // one controller drives the data bus in an order step
  data_arrives,     // a requestor that waits for data has a supplier
  accounted,        // every access and every request that waits is waited for, by exactly one state
  no_deadlock,      // in every state something can change
  can_finish,       // from every state there is a way to one in which nothing waits
};
constexpr std::size_t kPromises = 8;

// From the initial state to one that breaks a property; no shorter sequence breaks anything.
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
  std::size_t steps = 0;                          // tried, from all states together
  int depth = 0;                                  // steps to the state farthest from the initial one
  std::optional<CheckViolation<Step>> violation;  // then states, steps and depth are as far as it got
  std::vector<UnreachedRow> unreached;            // rows that never ran; empty after a violation
};

// More states than the memory limit has room for, or a table larger than a state can encode: nothing is proved. what() is for
// a user.
class CheckTooLarge : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace checker {

// Thrown by a step that breaks a property, and by a look at a state that does.
struct Broken {
  Property property;
  std::string text;
};

}  // namespace checker

}  // namespace linebounce
