#include "sim/config/contention.hpp"

#include <algorithm>

#include "sim/config/machine_history.hpp"
#include "sim/config/processor_names.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/schema.hpp"
#include "sim/config/table_reader.hpp"
#include "sim/config/toml_text.hpp"

namespace linebounce::sim {
namespace {

constexpr std::int64_t kFastBusMhz = 1000;  // no front-side bus ran this fast, so a faster clock means an on-chip network

// Reads [ranges]. It maps a parameter's path to a list of plausible values other than the family's own.
void read_ranges(const toml::table& ranges, const std::string& file, const KeySpace& keys, Family& family) {
  for (const Leaf& leaf : leaves(ranges, "machine", file, Origin{file, "machine."})) {
    const auto parameter = std::ranges::find(family.parameters, leaf.path, &Family::Parameter::path);
    if (parameter == family.parameters.end()) fail(leaf.origin, leaf.path, "has a range, but no value in this file");
    const auto* list = leaf.node->as_array();
    if (list == nullptr || list->empty()) fail(leaf.origin, leaf.path, "expected a list of other values");
    const KeyInfo& key = keys.require_settable(leaf.path, leaf.origin);
    for (const toml::node& node : *list) {
      ConfigValue value = checked(key, {leaf.path, &node, leaf.origin});
      if (value == parameter->setting.value) fail(leaf.origin, leaf.path, "the range lists the family's own value");
      parameter->others.push_back(std::move(value));
    }
  }
}

}  // namespace

// Guesses the contention family from the bus clock, the memory model and the protocol. Among today's vendors, only Arm has a
// weak memory model, and only AMD uses MOESI.
std::string usual_family(const Settings& settings) {
  const auto text = [&settings](const char* path) { return std::get<std::string>(settings.at(path).value); };
  const ConfigValue& clock = settings.at("machine.bus.clock_mhz").value;
  const auto* whole_mhz = std::get_if<std::int64_t>(&clock);
  if (whole_mhz != nullptr ? *whole_mhz < kFastBusMhz : std::get<double>(clock) < kFastBusMhz) return kFrontSideBus;
  if (text("machine.cpu.consistency") == "ia64") return "arm_mesh";
  return text("machine.bus.protocol").starts_with("moesi") ? "amd_zen" : "intel_mesh";
}

std::string contention_of_processor(std::string_view model) {
  const auto known = processor_in(model);
  return known ? known->family : "";
}

Family load_family(const std::string& name, const std::string& context) {
  const std::string file = find_file(kFamilyFiles, name, "", context).string();
  const toml::table table = parse_toml(read_text(file), file);
  KeySpace keys;
  keys.add(schema_keys({}));
  TableReader reader(table, file, "");
  Family family{name, reader.required_text("title"), {}};
  const toml::table* stated = reader.table("sources");
  const Sources sources = stated == nullptr ? Sources{} : read_sources(*stated, file, {}, keys);
  for (const Leaf& leaf : leaves(table, "machine", file, Origin{file, "machine."}, {"title", "sources", "ranges"})) {
    const KeyInfo& key = keys.require_settable(leaf.path, leaf.origin);
    const std::string* source = source_of(sources, key.path);
    if (source == nullptr) fail(leaf.origin, key.path, "has no source in [sources]");
    family.parameters.push_back({key.path, {checked(key, leaf), leaf.origin, Setting::From::family}, *source});
  }
  if (const toml::table* ranges = reader.table("ranges")) read_ranges(*ranges, file, keys, family);
  return family;
}

std::string family_source(const Family::Parameter& parameter, const std::string& family) {
  return parameter.source + " (" + family + ")";
}

void apply_contention(Settings& settings, const KeySpace& keys, Family& family) {
  Setting& contention = settings.at(kContention);
  if (contention.value == ConfigValue{std::string{}}) contention.from = Setting::From::schema;
  if (contention.from != Setting::From::given) contention = {usual_family(settings), contention.origin, Setting::From::family};
  const auto& name = std::get<std::string>(contention.value);
  if (family.name != name) family = load_family(name, contention.origin.place + ": contention");
  for (const Family::Parameter& parameter : family.parameters) {
    Setting& setting = settings.at(parameter.path);
    if (setting.from == Setting::From::given) continue;
    const KeyInfo& key = keys.require(parameter.path, parameter.setting.origin);
    setting = {key.default_value.value(), setting.origin, Setting::From::schema};
    if (has_effect(key, settings)) setting = parameter.setting;
  }
}

}  // namespace linebounce::sim
