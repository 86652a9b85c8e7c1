#include "sim/config/assumed_family.hpp"

#include "sim/config/processor_names.hpp"
#include "sim/config/project_files.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kAssumed = "assumed: ";
constexpr std::string_view kNamed = "assumed: the family of ";  // a processor's name was read
constexpr const char* kOrder = "machine.cpu.consistency";

bool is_assumed(const Sources& sources, const std::string& path) {
  const std::string* source = source_of(sources, path);
  return source == nullptr || source->starts_with(kAssumed);
}

}  // namespace

AssumedFamily assumed_family(const MachineTables& machine) {
  AssumedFamily found;
  found.name = std::get<std::string>(machine.settings.at(kContention).value);
  const std::string* source = source_of(machine.sources, kContention);
  if (source != nullptr && (!source->starts_with(kAssumed) || source->starts_with(kNamed))) return found;
  found.source = source == nullptr ? "its file names none" : source->substr(kAssumed.size());
  const auto& order = std::get<std::string>(machine.settings.at(kOrder).value);
  const bool any_order = is_assumed(machine.sources, kOrder);
  const bool has_slow_bus = usual_family(machine.settings) == kFrontSideBus;
  for (const std::string& name : file_names(kFamilyFiles)) {
    const KnownProcessor usual = usual_of(name);
    if (name == found.name || usual.consistency.empty() || (name == kFrontSideBus) != has_slow_bus) continue;
    if (!any_order && usual.consistency != order) continue;
    std::vector<std::string>& sets = found.others.emplace_back();
    sets.push_back("machine.contention=" + name);
    if (usual.consistency != order) sets.push_back("machine.cpu.consistency=" + usual.consistency);
  }
  return found;
}

}  // namespace linebounce::sim
