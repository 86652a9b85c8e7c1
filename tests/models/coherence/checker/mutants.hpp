// Makes protocols with one row broken on purpose.
#pragma once

#include <string>
#include <vector>

#include "models/coherence/protocol.hpp"

namespace linebounce::test {

// One change to one row of one table. of() makes the changed protocol on demand, because there are thousands of mutants.
struct Mutant {
  std::string name;  // such as "cache S Other_GetS: to I"
  Controller controller = Controller::cache;
  // indices in ControllerTable::rows; a row without a guard has an index for each word of its event's group
  std::vector<std::size_t> places;
  Row row;

  [[nodiscard]] Protocol of(const Protocol& good) const;
};

// Breaks every possible row of all tables: with each wrong next state, without each of its actions, and deleted. Leaves out
// what a file couldn't express: an access without an answer, and a stalled network message that changes the state.
std::vector<Mutant> mutants_of(const Protocol& good);

// The row of a state and event, for tests that break it. Throws std::out_of_range for an unknown name.
Row& row_of(Protocol& protocol, const std::string& state, const std::string& event);
Row& memory_row_of(Protocol& protocol, const std::string& event);
StateId state_of(const Protocol& protocol, const std::string& name);
void drop(Row& row, Verb verb);

}  // namespace linebounce::test
