// Prints one line of text for each state transition of a run, in a course's format.
#pragma once

#include <string>

#include "commands/steps/recorded_steps.hpp"

namespace linebounce::sim {

inline constexpr const char* kUsualLogLine = "{ns} ns: {where}: line {line}: {from} -> {to} on {event}";

// A line for each row that changed a state, in the order of steps. `form` may contain the fields ns, tick, where, controller,
// number, line (its address), name, from, to and event. Errors: ConfigError for an unknown field.
std::string step_log(const RecordedSteps& run, const std::string& form);

}  // namespace linebounce::sim
