#include "commands/check/random_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "sim/config/experiment_tables.hpp"
#include "sim/config/load_experiment.hpp"
#include "sim/config/project_files.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kShownAs = "random case";

std::string toml_text(const ConfigValue& value) {
  std::ostringstream out;
  std::visit([&out](const auto& plain) { out << toml::value(plain); }, value);
  return out.str();
}

bool is_fixed(const RandomBase& base, const std::string& path) {
  return std::ranges::any_of(base.fixed, [&](const auto& entry) { return entry.first == path; });
}

}  // namespace

RandomBase random_base(const std::string& machine, const std::vector<std::pair<std::string, std::string>>& sets) {
  RandomBase base;
  base.machine = is_path(kMachineFiles, machine) ? absolute_path(machine) : machine;
  Overrides overrides;
  overrides.machine = base.machine;
  overrides.sets = sets;
  const RandomCase nothing_changed{{}, 1, 1};
  const Experiment experiment = read_unexpanded(experiment_text(base, nothing_changed, "random", ""), kShownAs, overrides);
  for (const auto& [path, text] : sets) base.fixed.emplace_back(path, experiment.tables->settings.at(path).value);
  base.spec = point_maker(experiment)(0).input.machine;
  return base;
}

void RandomCase::set(const std::string& path, const ConfigValue& value, int group) {
  const auto found = std::ranges::find_if(settings, [&](const CaseSetting& setting) { return setting.path == path; });
  if (found == settings.end()) {
    settings.push_back({path, value, group});
  } else {
    *found = {path, value, group};
  }
}

const CaseSetting* RandomCase::find(const std::string& path) const {
  const auto found = std::ranges::find_if(settings, [&](const CaseSetting& setting) { return setting.path == path; });
  return found == settings.end() ? nullptr : &*found;
}

std::string setting_line(const std::string& path, const ConfigValue& value) {
  return fmt::format("\"{}\" = {}\n", path, toml_text(value));
}

int cpus_of(const RandomBase& base, const RandomCase& random) {
  constexpr const char* kCpus = "machine.cpus";
  const CaseSetting* const cpus = random.find(kCpus);
  return cpus && !is_fixed(base, kCpus) ? static_cast<int>(std::get<std::int64_t>(cpus->value)) : base.spec.cpus;
}

std::string experiment_text(const RandomBase& base, const RandomCase& tried, const std::string& name,
                            const std::string& title) {
  std::string text = fmt::format(
      "name    = {}\ntitle   = {}\nmachine = {}\nseed    = {}\n\n[workload]\nname       = \"random_references\"\n"
      "operations = {}\n\n[run]\nmeasure_us = 0\n\n[set]\n",
      toml_text(name), toml_text(title), toml_text(base.machine), tried.seed, tried.operations);
  for (const auto& [path, value] : base.fixed) text += setting_line(path, value);
  for (const CaseSetting& setting : tried.settings) {
    if (!is_fixed(base, setting.path)) text += setting_line(setting.path, setting.value);
  }
  return text;
}

SimulationInput input_of(const RandomBase& base, const RandomCase& random) {
  const Experiment experiment = read_unexpanded(experiment_text(base, random, "random", ""), kShownAs, {});
  return point_maker(experiment)(0).input;
}

}  // namespace linebounce::sim
