// `extends = "NAME"`: an experiment that states only its differences from another one.
#pragma once

#include <toml++/toml.h>

#include <filesystem>

namespace linebounce::sim {

// An experiment file's table, laid over that of the experiment that it extends, if it does: without `extends`, every key with
// its place in the file that it comes from. Errors: ConfigError, also for a circle.
toml::table read_experiment_table(const std::filesystem::path& file);

}  // namespace linebounce::sim
