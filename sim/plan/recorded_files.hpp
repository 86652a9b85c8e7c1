// Whether the files of a finished point are still those that the run wrote: its manifest holds their sizes and checksums.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/results/manifest.hpp"

namespace linebounce::sim {

// The files of a results directory, but for the manifest, by which it is known as one.
const std::vector<std::string>& result_names();

// Those of them that are in this directory, as they are now. Errors: InputError.
FileRecords records_of(const std::filesystem::path& directory);

// What does not agree with the records: "locks.csv is missing", "lines.csv has changed since it was written"; empty if all
// does.
std::string damage_of(const std::filesystem::path& directory, const FileRecords& records);

}  // namespace linebounce::sim
