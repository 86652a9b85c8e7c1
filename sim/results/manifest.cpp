#include "sim/results/manifest.hpp"

#include <unistd.h>

#include <array>
#include <ctime>
#include <nlohmann/json.hpp>

#include "sim/results/build_info.hpp"
#include "sim/results/json_members.hpp"
#include "sim/results/numbers.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

const std::map<RunStatus, std::string> kStatusNames = {
    {RunStatus::complete, "complete"}, {RunStatus::interrupted, "interrupted"}, {RunStatus::failed, "failed"}};

RunStatus status_from(const std::string& name) {
  for (const auto& [status, known] : kStatusNames) {
    if (known == name) return status;
  }
  return RunStatus::interrupted;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

ordered_json failures_to_json(const std::vector<FailedPoint>& failures) {
  ordered_json out = ordered_json::array();
  for (const FailedPoint& failure : failures) {
    out.push_back({{"point", failure.point}, {"exit_code", failure.exit_code}, {"reason", failure.reason}});
  }
  return out;
}

ordered_json files_to_json(const FileRecords& files) {
  ordered_json out = ordered_json::object();
  for (const auto& [name, file] : files) out[name] = {{"bytes", file.bytes}, {"checksum", file.checksum}};
  return out;
}

}  // namespace

std::string manifest_text(const Manifest& manifest) {
  const double rate = manifest.simulation_s > 0 ? static_cast<double>(manifest.references) / manifest.simulation_s : 0;
  ordered_json out;
  out["schema"] = "linebounce.manifest/1";
  out["status"] = kStatusNames.at(manifest.status);
  out["interrupted"] = manifest.status == RunStatus::interrupted;
  out["version"] = program_version();
  out["commit"] = program_commit();
  out["compiler"] = kCompiler;
  out["systemc"] = kSystemC;
  out["argv"] = manifest.argv;
  out["seed"] = manifest.seed;
  out["seeds"] = manifest.seeds;
  out["hash"] = manifest.hash;
  out["points"] = manifest.points;
  out["points_done"] = manifest.points_done;
  out["failed_points"] = failures_to_json(manifest.failed_points);
  out["host"] = host_name();
  out["started"] = manifest.started;
  out["wall_s"] = rounded(manifest.wall_s);
  out["simulation_s"] = rounded(manifest.simulation_s);
  out["references"] = manifest.references;
  out["references_per_s"] = rounded(rate);
  out["peak_memory_kib"] = manifest.peak_memory_kib;
  out["files"] = files_to_json(manifest.files);
  // Replaces bytes that are not UTF-8, which arguments may contain. Refusing them would lose the manifest.
  return out.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string with_files(const std::string& manifest, const FileRecords& files) {
  ordered_json out = ordered_json::parse(manifest);
  out["files"] = files_to_json(files);
  return out.dump(1) + "\n";
}

std::string with_status(const std::string& manifest, RunStatus status) {
  ordered_json out = ordered_json::parse(manifest);
  out["status"] = kStatusNames.at(status);
  return out.dump(1) + "\n";
}

std::optional<EarlierManifest> read_manifest(const std::string& text) {
  try {
    const auto in = parsed_json<nlohmann::json>(text);
    if (in.at("schema") != "linebounce.manifest/1") return std::nullopt;
    EarlierManifest manifest;
    in.at("hash").get_to(manifest.hash);
    in.at("commit").get_to(manifest.commit);
    manifest.status = status_from(in.at("status").get<std::string>());
    in.at("simulation_s").get_to(manifest.simulation_s);
    take(in.at("references"), manifest.references);
    take(in.at("peak_memory_kib"), manifest.peak_memory_kib);
    for (const auto& failure : in.at("failed_points")) {
      manifest.failed_points.push_back(
          {taken<int>(failure.at("point")), taken<int>(failure.at("exit_code")), failure.at("reason")});
    }
    for (const auto& [name, file] : in.at("files").items()) {
      manifest.files[name] = {taken<std::uint64_t>(file.at("bytes")), file.at("checksum").get<std::string>()};
    }
    return manifest;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::string program_version() {
  return kVersion;
}
std::string program_commit() {
  return kCommit;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

}  // namespace linebounce::sim
