// The memory models in litmus/models, and users' own.
#pragma once

#include <string>
#include <string_view>

#include "litmus/model.hpp"
#include "sim/config/project_files.hpp"

namespace linebounce::sim::litmus {

inline constexpr FileKind kModelFiles{"memory model", "litmus/models", ".model"};

// A shipped model by its name, or a file by its path. Errors: ConfigError.
Model load_model(const std::string& name_or_path);
// The name of the shipped model that tests of this architecture were written for.
std::string model_for(std::string_view architecture);

}  // namespace linebounce::sim::litmus
