#include "litmus/shipped_models.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/point/config_error.hpp"

namespace linebounce::sim::litmus {

Model load_model(const std::string& name_or_path) {
  const std::filesystem::path file = find_file(kModelFiles, name_or_path, {}, "");
  try {
    return parse_model(read_text(file), name_or_path);
  } catch (const std::invalid_argument& problem) {
    throw ConfigError(problem.what());
  }
}

std::string model_for(std::string_view architecture) {
  for (const std::string& name : file_names(kModelFiles)) {
    const Model model = load_model(name);
    if (std::ranges::find(model.judges, architecture) != model.judges.end()) return name;
  }
  throw std::logic_error("no shipped model judges tests for " + std::string(architecture));
}

}  // namespace linebounce::sim::litmus
