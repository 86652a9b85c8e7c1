// `linebounce describe layout`: prints structures by cache line, with the changes that an experiment makes to them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

struct LayoutQuestion {
  std::string name;            // a layout file, or a structure that only one shipped file has
  std::string structure = {};  // empty: all
  std::string machine = {}, experiment = {};
  std::optional<int> line_bytes = {};
};

// Errors: ConfigError, with the known names.
std::string layout_answer(const LayoutQuestion& question, const Painter& paint);
nlohmann::ordered_json layout_answer_json(const LayoutQuestion& question);

}  // namespace linebounce::sim
