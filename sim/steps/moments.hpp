// Moments of a run by their names in lessons: "x is M in CPU 2", "CPU 1 loads x, 2nd time".
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "sim/point/config_error.hpp"
#include "sim/steps/recorded_steps.hpp"

namespace linebounce::sim {

// The text does not name a moment, or names a word, state, CPU or place that the run does not have. what() lists the legal
// ones.
class MomentError : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

// The position (number of steps) after the first step at which the moment has come, not before step `from`; none if it never
// comes. Errors: MomentError.
std::optional<std::size_t> find_moment(const RecordedSteps& run, const std::string& text, std::size_t from = 0);

}  // namespace linebounce::sim
