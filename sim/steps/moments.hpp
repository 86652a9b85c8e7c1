// Moments of a run, as lessons and people name them: "x is M in CPU 2", "CPU 1 loads x, 2nd time".
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "sim/point/config_error.hpp"
#include "sim/steps/recorded_steps.hpp"

namespace linebounce::sim {

// A text that names no moment, or a word, state, CPU or place that the run does not have. what() says what is legal.
class MomentError : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

// The position (so many steps have run) behind the first step from position `from` on at which it holds; none: it never does.
// Errors: MomentError.
std::optional<std::size_t> find_moment(const RecordedSteps& run, const std::string& text, std::size_t from = 0);

}  // namespace linebounce::sim
