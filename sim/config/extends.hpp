// `extends = "NAME"`: an experiment that states only its differences from another one.
#pragma once

#include <toml++/toml.h>

#include <filesystem>
#include <string>

namespace linebounce::sim {

// The table of an experiment's text, laid over that of the experiment that it extends, if it does: without `extends`, every key
// with its place in the file that it comes from. `file` is where the text is from. Errors: ConfigError, also for a circle.
toml::table read_experiment_table(const std::string& text, const std::filesystem::path& file);

}  // namespace linebounce::sim
