#include "commands/calibrate/fitted_tables.hpp"

#include <algorithm>

#include "sim/config/experiment_tables.hpp"

namespace linebounce::sim {

std::string short_path(const std::string& path) {
  return path.substr(std::string_view("machine.").size());
}

namespace {

double number_in(const ConfigValue& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
}

}  // namespace

double number_at(const Settings& settings, const std::string& path) {
  return number_in(settings.at(path).value);
}

MachineSpec FittedTables::typed() const {
  return to_typed(machine_.settings, machine_.parts).machine;
}

void FittedTables::set(const std::string& path, double value) {
  const KeyInfo& key = *machine_.keys.find(path);
  state(path, canonical(std::clamp(value, key.minimum, key.maximum)));
}

void FittedTables::set(const std::string& path, const std::string& word) {
  state(path, word);
}

void FittedTables::state(const std::string& path, const ConfigValue& value) {
  Setting& setting = machine_.settings.at(path);
  const auto source = machine_.sources.find(path);
  before_.try_emplace(path, Before{setting, source == machine_.sources.end() ? "" : source->second});
  setting.value = value;
  setting.from = Setting::From::given;
  machine_.sources[path] = source_;
  determined_.insert(path);
}

void FittedTables::restore(const std::string& path) {
  const auto before = before_.find(path);
  if (before == before_.end()) return;
  machine_.settings.at(path) = before->second.setting;
  machine_.sources.erase(path);
  if (!before->second.source.empty()) machine_.sources[path] = before->second.source;
  determined_.erase(path);
}

std::vector<ChangedNumber> FittedTables::changed() const {
  std::vector<ChangedNumber> all;
  for (const auto& [path, before] : before_) {
    if (std::holds_alternative<std::string>(before.setting.value)) continue;
    const double then = number_in(before.setting.value);
    if (const double now = number(path); now != then) all.push_back({path, then, now});
  }
  return all;
}

}  // namespace linebounce::sim
