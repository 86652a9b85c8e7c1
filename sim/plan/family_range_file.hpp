// The files in a results directory that hold the answer's check over the range of the contention family.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace linebounce::sim {

// The directory of the runs over the family's range, inside the experiment's results directory.
inline constexpr const char* kFamilyRangeFolder = "family_range";
// The sentences that the merge adds to the answer.
inline constexpr const char* kFamilyRangeFile = "family_range.json";

// `hash`: that of the experiment's plan. Errors: OutputError.
void write_family_range(const std::filesystem::path& directory, const std::string& hash, const std::string& text);

// None if there is no such file, or it belongs to another configuration. Errors: InputError.
std::optional<std::string> read_family_range(const std::filesystem::path& directory, const std::string& hash);

}  // namespace linebounce::sim
