// Where an object is to be, as a trace says it.
#pragma once

#include <optional>
#include <string>

#include "models/memory/homes.hpp"

namespace linebounce::workloads {

// "node 3", "first_touch", "interleaved", "local".
std::string text_of(const Home& home);
// Empty text: none. Errors: std::invalid_argument.
std::optional<Home> home_of(const std::string& text);

}  // namespace linebounce::workloads
