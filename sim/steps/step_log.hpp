// Prints a line of text for each state transition of a run, in the format of a course.
#pragma once

#include <string>

#include "sim/steps/recorded_steps.hpp"

namespace linebounce::sim {

inline constexpr const char* kUsualLogLine = "{ns} ns: {where}: line {line}: {from} -> {to} on {event}";

// One line for each row that changed a state, in the steps' order. Fields: ns, tick, where, controller, number, line (its
// address), name, from, to, event. Errors: ConfigError for an unknown field.
std::string step_log(const RecordedSteps& run, const std::string& form);

}  // namespace linebounce::sim
