// Finds moments of a run by their names in lessons: "x is M in CPU 2", "CPU 1 loads x, 2nd time".
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "commands/steps/recorded_steps.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {

// The text is not the name of a moment, or names a word, state, CPU or place that the run does not have. what() lists the legal
// ones.
class MomentError : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

// The number of steps up to and including the one with which the moment comes. Considers only steps from `from` on. None if the
// moment never comes. Errors: MomentError.
std::optional<std::size_t> find_moment(const RecordedSteps& run, const std::string& text, std::size_t from = 0);

}  // namespace linebounce::sim
