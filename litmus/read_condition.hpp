// Reads a proposition about the final state: "(0:EAX=0 /\ (x=1 \/ not (1:EBX=2)))".
#pragma once

#include <string_view>

#include "litmus/program.hpp"
#include "litmus/scanner.hpp"

namespace linebounce::sim::litmus {

// Takes the proposition from the scanner. Errors: std::invalid_argument.
Condition read_condition(Program& program, Scanner& scanner);

// "P1" or "1", and a register's name. `may_be_new`: makes the thread and the register if they are not there. Errors:
// std::invalid_argument.
Place register_place(Program& program, std::string_view thread, std::string_view name, bool may_be_new);

}  // namespace linebounce::sim::litmus
