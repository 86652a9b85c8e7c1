// Files in a results directory about the check of the answer over the contention family's range.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace linebounce::sim {

// The folder for that check's runs, inside the experiment's results directory.
inline constexpr const char* kFamilyRangeFolder = "family_range";
// The file with the sentences that are added to the answer.
inline constexpr const char* kFamilyRangeFile = "family_range.json";

// `hash`: the configuration hash of the experiment's plan. Errors: OutputError.
void write_family_range(const std::filesystem::path& directory, const std::string& hash, const std::string& text);

// None if the file does not exist or belongs to another configuration. Errors: InputError.
std::optional<std::string> read_family_range(const std::filesystem::path& directory, const std::string& hash);

}  // namespace linebounce::sim
