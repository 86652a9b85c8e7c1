// Reading a file of a results directory.
#pragma once

#include <filesystem>
#include <string>

#include "sim/results/result_files.hpp"

namespace linebounce::sim {

// What `read` makes of the file's text; `place` comes before what is wrong with that. Errors: InputError.
template <class Read>
auto read_results(const std::filesystem::path& file, const std::string& place, const Read& read) {
  const std::string text = read_file(file);
  try {
    return read(text);
  } catch (const InputError& error) {
    throw InputError(place + error.what());
  }
}

// The same for a CSV file, whose errors name it, but not its directory.
template <class Read>
auto read_csv(const std::filesystem::path& file, const Read& read) {
  return read_results(file, (file.parent_path() / "").string(), read);
}

}  // namespace linebounce::sim
