// What a results directory knows of its answer over the range of the machine's contention family.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace linebounce::sim {

// The directory of the runs over the range, within the results directory of the experiment.
inline constexpr const char* kFamilyRangeFolder = "family_range";
// The sentences that the merge adds to the answer.
inline constexpr const char* kFamilyRangeFile = "family_range.json";

// `hash`: of the experiment's plan. Errors: OutputError.
void write_family_range(const std::filesystem::path& directory, const std::string& hash, const std::string& text);

// None if there is no such file, or it belongs to another configuration. Errors: InputError.
std::optional<std::string> read_family_range(const std::filesystem::path& directory, const std::string& hash);

}  // namespace linebounce::sim
