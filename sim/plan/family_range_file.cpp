#include "sim/plan/family_range_file.hpp"

#include <nlohmann/json.hpp>

#include "sim/results/json_members.hpp"
#include "sim/results/result_files.hpp"

namespace linebounce::sim {

void write_family_range(const std::filesystem::path& directory, const std::string& hash, const std::string& text) {
  const nlohmann::ordered_json document = {{"hash", hash}, {"text", text}};
  write_if_changed(directory / kFamilyRangeFile, document.dump(1) + "\n");
}

std::optional<std::string> read_family_range(const std::filesystem::path& directory, const std::string& hash) {
  const std::filesystem::path file = directory / kFamilyRangeFile;
  if (!is_there(file)) return std::nullopt;
  try {
    const auto document = parsed_json<nlohmann::ordered_json>(read_file(file));
    if (document.at("hash") != hash) return std::nullopt;
    return document.at("text").get<std::string>();
  } catch (const nlohmann::json::exception&) {
    throw InputError(file.string() + ": not the file that a run has written there; --fresh runs again");
  }
}

}  // namespace linebounce::sim
