// Properties that hold for random configurations, not only for hand-written examples.
#include "fixture.hpp"
#include "sim/config/schema.hpp"

// Must follow GoogleTest, which this header uses without including it.
#include <rapidcheck/gtest.h>

namespace linebounce::sim {
namespace {

using Generated = std::vector<std::pair<std::string, ConfigValue>>;

rc::Gen<std::string> any_text() {
  return rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
}

rc::Gen<double> any_number() {
  return rc::gen::apply([](std::int64_t mantissa, int exponent) { return std::ldexp(static_cast<double>(mantissa), exponent); },
                        rc::gen::arbitrary<std::int64_t>(), rc::gen::inRange(-120, 60));
}

rc::Gen<ConfigValue> any_value() {
  const auto wrap = [](auto gen) { return rc::gen::map(gen, [](auto value) { return ConfigValue{value}; }); };
  return rc::gen::oneOf(wrap(rc::gen::arbitrary<bool>()), wrap(rc::gen::arbitrary<std::int64_t>()), wrap(any_number()),
                        wrap(any_text()));
}

// A random value that is legal for the key, whatever the values of other keys are.
ConfigValue legal_value(const KeyInfo& key) {
  if (key.type == ValueType::boolean) return *rc::gen::arbitrary<bool>();
  if (!key.choices.empty()) return *rc::gen::elementOf(key.choices);
  const double share = static_cast<double>(*rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 50)) /
                       static_cast<double>(std::int64_t{1} << 50);
  const double number = key.minimum + share * (key.maximum - key.minimum);
  return key.type == ValueType::integer ? ConfigValue{static_cast<std::int64_t>(number)} : ConfigValue{number};
}

// False for keys whose legal values depend on other keys, and for keys that are not plain quantities.
bool stands_alone(const KeyInfo& key) {
  static const std::vector<std::string> tied = {"machine.cpus",
                                                "machine.cpu_list",
                                                "machine.contention",
                                                "machine.cpu.threads_per_core",
                                                "machine.cpu.consistency",
                                                "machine.cpu.store_buffer_entries",
                                                "machine.cpu.clock_mhz",
                                                "machine.bus.clock_mhz",
                                                "machine.bus.protocol",
                                                "machine.bus.width_bytes",
                                                "machine.bus.line_bytes",
                                                "workload.name"};
  const bool of_cache = key.path.starts_with("machine.cache.") && !key.path.ends_with(".hit_latency_cycles");
  return !key.structural && key.needs.empty() && !of_cache && !key.path.starts_with("engine.") &&
         std::find(tied.begin(), tied.end(), key.path) == tied.end();
}

std::vector<KeyInfo> free_keys() {
  std::vector<KeyInfo> keys = schema_keys({{"L1D", "L2"}, {}});
  for (const auto& key : workload_keys(test_catalogue(), "counter")) keys.push_back(key);
  std::erase_if(keys, [](const KeyInfo& key) { return !stands_alone(key); });
  return keys;
}

toml::table settings_table(const std::vector<KeyInfo>& keys) {
  toml::table table;
  for (const auto& key : keys) {
    if (*rc::gen::inRange(0, 3) == 0) insert_value(table, key.path, legal_value(key));
  }
  return table;
}

// One or two lists of two values each, zipped or not.
toml::table sweep_of(const std::vector<KeyInfo>& keys) {
  toml::table sweep;
  toml::table zipped;
  for (const auto& key : *rc::gen::mapcat(rc::gen::inRange<std::size_t>(0, 3), [&](std::size_t n) {
         return rc::gen::container<std::vector<std::size_t>>(n, rc::gen::inRange<std::size_t>(0, keys.size()));
       })) {
    const ConfigValue first = legal_value(keys[key]);
    const ConfigValue second = legal_value(keys[key]);
    if (canonical(first) == canonical(second) || keys[key].path == "run.seeds") continue;
    toml::array values;
    for (const auto& value : {first, second}) std::visit([&](const auto& plain) { values.push_back(plain); }, value);
    const bool zip = *rc::gen::arbitrary<bool>() && !sweep.contains(keys[key].path);
    (zip ? zipped : sweep).insert_or_assign(keys[key].path, std::move(values));
    if (!zip) zipped.erase(keys[key].path);
  }
  if (!zipped.empty()) sweep.insert("together", toml::array{std::move(zipped)});
  return sweep;
}

class AnyConfiguration : public ConfigFiles {};

RC_GTEST_PROP(AnyTable, WrittenAndReadAgainIsTheSame, ()) {
  toml::table table{{"never", "empty"}};
  for (const auto& [key, value] : *rc::gen::container<Generated>(rc::gen::pair(any_text(), any_value())))
    insert_value(table, key, value);
  for (const auto& [key, value] : *rc::gen::container<Generated>(rc::gen::pair(any_text(), any_value()))) {
    insert_value(table_at(table, "below.deeper"), key, value);
  }
  RC_ASSERT(parse_toml(to_toml(table), "t") == table);
}

RC_GTEST_PROP(AnyNumber, HasOneFormForEachValue, ()) {
  const double number = *any_number();
  const ConfigValue form = canonical(number);
  const auto* whole = std::get_if<std::int64_t>(&form);
  RC_ASSERT((whole ? static_cast<double>(*whole) : std::get<double>(form)) == number);
  RC_ASSERT(canonical(form) == form);
}

RC_GTEST_FIXTURE_PROP(AnyConfiguration, ResolvedReadAndResolvedAgainIsTheSame, ()) {
  const auto keys = free_keys();
  toml::table experiment = parse_toml(kExperiment, "e");
  experiment.insert("set", settings_table(keys));
  experiment.insert("sweep", sweep_of(keys));
  experiment.insert_or_assign("title", *any_text());
  const Experiment first = load(to_toml(experiment));
  const std::string text = to_toml(first.resolved);
  const Experiment second = load_experiment(write("config.toml", text), {}, test_catalogue());
  RC_ASSERT(to_toml(second.resolved) == text);
  const auto a = expand(first);
  const auto b = expand(second);
  RC_ASSERT(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    RC_ASSERT(a[i].at == b[i].at);
    RC_ASSERT(to_toml(a[i].resolved) == to_toml(b[i].resolved));
  }
}

// A file with one changed byte either loads, or is refused with an error of ours that names the file.
RC_GTEST_FIXTURE_PROP(AnyConfiguration, ADamagedFileIsReadOrRefusedWithItsName, ()) {
  const bool machine = *rc::gen::arbitrary<bool>();
  std::string text = machine ? kMachine : kExperiment;
  const auto where = *rc::gen::inRange<std::size_t>(0, text.size());
  text[where] = *rc::gen::arbitrary<char>();
  const std::string error = machine ? machine_error(text) : experiment_error(text);
  RC_ASSERT(error == "no error" || error.find(machine ? "x.toml" : "e.toml") != std::string::npos ||
            error.find(".toml: there is no such file") != std::string::npos);
}

}  // namespace
}  // namespace linebounce::sim
