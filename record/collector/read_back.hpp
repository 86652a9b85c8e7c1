// Reads a finished recording back, as every command does that uses it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace linebounce::record {

// Why the trace can't be used, or is not known to be usable; empty if it is read and checked (trace/check.hpp), and has this
// many operations. `name`: what messages call the file. `interrupted`: called again and again, from several threads; true ends
// the check.
std::string read_back(const std::filesystem::path& file, const std::string& name, std::uint64_t operations,
                      const std::function<bool()>& interrupted);

}  // namespace linebounce::record
