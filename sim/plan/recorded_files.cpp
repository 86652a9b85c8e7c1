#include "sim/plan/recorded_files.hpp"

#include "sim/results/csv.hpp"
#include "sim/results/result_files.hpp"
#include "trace/fingerprint.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

FileRecord record_of(const fs::path& file) {
  FileRecord record;
  trace::Fingerprint fingerprint;
  read_parts(file, [&](std::string_view part) {
    record.bytes += part.size();
    fingerprint.add(part);
  });
  record.checksum = fingerprint.text();
  return record;
}

}  // namespace

const std::vector<std::string>& result_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = csv_names();
    all.insert(all.end(), {kTimelineFile, "results.json", "config.toml"});
    return all;
  }();
  return names;
}

FileRecords records_of(const fs::path& directory) {
  FileRecords records;
  for (const std::string& name : result_names()) {
    if (is_there(directory / name)) records[name] = record_of(directory / name);
  }
  return records;
}

std::string damage_of(const fs::path& directory, const FileRecords& records) {
  if (records.empty()) return "manifest.json does not say what its files hold";
  for (const std::string& name : result_names()) {
    const fs::path file = directory / name;
    const auto known = records.find(name);
    if (known == records.end()) {
      if (is_there(file)) return name + " is not of this run";
      continue;
    }
    if (!is_there(file)) return name + " is missing";
    try {
      if (record_of(file) != known->second) return name + " has changed since it was written";
    } catch (const InputError& error) {
      return error.what();
    }
  }
  return "";
}

}  // namespace linebounce::sim
