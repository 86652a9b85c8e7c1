// `linebounce describe layout`: structures line by line, and what an experiment makes of them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

struct LayoutQuestion {
  std::string name;            // of a layout file, or of a structure that one shipped file alone has
  std::string structure = {};  // empty: all
  std::string machine = {}, experiment = {};
  std::optional<int> line_bytes = {};
};

// Errors: ConfigError, with the known names.
std::string layout_answer(const LayoutQuestion& question, const Painter& paint);
nlohmann::ordered_json layout_answer_json(const LayoutQuestion& question);

}  // namespace linebounce::sim
