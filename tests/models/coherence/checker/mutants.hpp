// Protocols with one row broken on purpose.
#pragma once

#include <string>
#include <vector>

#include "models/coherence/protocol.hpp"

namespace linebounce::test {

// One change of one row of one table. The protocol itself is made when it is needed: there are thousands of them.
struct Mutant {
  std::string name;  // "cache S Other_GetS: to I"
  Controller controller = Controller::cache;
  std::vector<std::size_t> places;  // in ControllerTable::rows: a row without a guard stands at all words of its event's group
  Row row;

  [[nodiscard]] Protocol of(const Protocol& good) const;
};

// Every possible row of all tables with each wrong next state, without each of its actions, and deleted. What a file couldn't
// say is left out: an access that gets no answer, a message of a network that stalls and changes the state.
std::vector<Mutant> mutants_of(const Protocol& good);

// The row of a pair, to be broken by hand. Throws std::out_of_range for an unknown name.
Row& row_of(Protocol& protocol, const std::string& state, const std::string& event);
Row& memory_row_of(Protocol& protocol, const std::string& event);
StateId state_of(const Protocol& protocol, const std::string& name);
void drop(Row& row, Verb verb);

}  // namespace linebounce::test
