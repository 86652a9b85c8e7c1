#include "sim/config/schema.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/frequency.hpp"

namespace linebounce::sim {
namespace {

// Reads a parameter's default from a newly constructed spec.
struct Read {
  ConfigValue operator()(const int* member) const { return static_cast<std::int64_t>(*member); }
  ConfigValue operator()(const Frequency* member) const {
    return static_cast<double>(member->numerator_mhz) / static_cast<double>(member->denominator);
  }
  ConfigValue operator()(const WordMember& member) const { return std::string(member.word); }
  template <class Same>
  ConfigValue operator()(const Same* member) const {
    return *member;
  }
};

double as_number(const ConfigValue& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer ? static_cast<double>(*integer) : std::get<double>(value);
}

struct Assign {
  const std::string& path;
  const Setting& setting;
  void operator()(int* member) const { *member = static_cast<int>(std::get<std::int64_t>(setting.value)); }
  void operator()(double* member) const { *member = as_number(setting.value); }
  void operator()(Frequency* member) const {
    const auto frequency = to_frequency(as_number(setting.value));
    if (!frequency)
      fail(setting.origin, path,
           fmt::format("{} MHz is not a fraction with a denominator of at most 64", plain_text(setting.value)));
    *member = *frequency;
  }
  void operator()(const WordMember& member) const { member.assign(std::get<std::string>(setting.value)); }
  template <class Same>
  void operator()(Same* member) const {
    *member = std::get<Same>(setting.value);
  }
};

TypedConfiguration blank(const PartNames& parts) {
  TypedConfiguration configuration;
  for (const auto& name : parts.caches) configuration.machine.caches.emplace_back().name = name;
  for (const auto& name : parts.links) configuration.machine.network.links.emplace_back().name = name;
  for (const auto& name : parts.groups) configuration.machine.groups.emplace_back().name = name;
  for (const auto& name : parts.pairs) configuration.machine.network.pairs.emplace_back().name = name;
  for (const auto& name : parts.memories) configuration.machine.memory_of_node.emplace_back().name = name;
  return configuration;
}

}  // namespace

void TypedConfiguration::bind(SpecBinder& keys) {
  keys.part("machine", machine);
  keys.part("run", run);
  keys.number("run.seeds", "", seeds, 1, 1000, "runs per point, each with a seed of its own");
  keys.part("engine", engine);
}

std::vector<KeyInfo> schema_keys(const PartNames& parts, std::initializer_list<std::string_view> below) {
  std::vector<KeyInfo> keys;
  const auto add = [&keys](const SpecParameter& parameter) {
    const ConfigValue value = std::visit(Read{}, parameter.member);
    KeyInfo key{.path = parameter.path,
                .type = type_of(value),
                .unit = std::string(parameter.unit),
                .meaning = std::string(parameter.meaning),
                .minimum = parameter.minimum,
                .maximum = parameter.maximum,
                .choices = {parameter.words.begin(), parameter.words.end()},
                .structural = parameter.traits.structural,
                .needs = std::string(parameter.traits.needs)};
    if (!parameter.traits.required) key.default_value = canonical(value);
    keys.push_back(std::move(key));
  };
  SpecBinder binder(add, below);
  blank(parts).bind(binder);
  return keys;
}

bool has_effect(const KeyInfo& key, const Settings& settings) {
  if (key.needs.empty()) return true;
  const ConfigValue& needed = settings.at(key.needs).value;
  return needed != ConfigValue{std::string{}} && needed != ConfigValue{std::int64_t{0}};
}

bool is_shown(const KeyInfo& key, const Settings& settings) {
  return has_effect(key, settings) || !key.default_value || settings.at(key.path).value != *key.default_value;
}

void fill_defaults(Settings& settings, const PartNames& parts, std::string_view prefix, const Origin& origin) {
  for (const KeyInfo& key : schema_keys(parts, {prefix})) {
    if (settings.contains(key.path)) continue;
    if (!key.default_value) {
      fail(origin, key.path,
           fmt::format("this key is missing and has no default ({}{}{})", key.meaning, key.unit.empty() ? "" : ", in ",
                       key.unit));
    }
    settings.emplace(key.path, Setting{*key.default_value, origin, Setting::From::schema});
  }
}

TypedConfiguration to_typed(const Settings& settings, const PartNames& parts) {
  SpecBinder binder([&settings](const SpecParameter& parameter) {
    const auto found = settings.find(parameter.path);
    if (found != settings.end()) std::visit(Assign{parameter.path, found->second}, parameter.member);
  });
  auto configuration = blank(parts);
  configuration.bind(binder);
  return configuration;
}

}  // namespace linebounce::sim
