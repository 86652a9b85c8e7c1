// Contention families, configs/families/NAME.toml: the costs of waiting on processors of one kind. A machine names its family
// as `contention`; a value in the machine's file overrides the family's. All families have the same parameters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/settings.hpp"

namespace linebounce::sim {

inline constexpr const char* kContention = "machine.contention";

struct Family {
  struct Parameter {
    std::string path;  // "machine.cpu.hold_ns"
    Setting setting;
    std::string source;
    std::vector<ConfigValue> others = {};  // of [ranges]: what such a processor may have instead; empty: nothing else is likely
  };
  std::string name;
  std::string title;
  std::vector<Parameter> parameters;
};

// Reads configs/families/NAME.toml. `context` precedes the message for an unknown name. Errors: ConfigError.
Family load_family(const std::string& name, const std::string& context);

// The source of a value that a machine takes from its family.
std::string family_source(const Family::Parameter& parameter, const std::string& family);

// The family of a processor with this model name ("AMD EPYC 7763 64-Core Processor"); empty if unknown.
std::string contention_of_processor(std::string_view model);

// Fills in the family's values that neither a file nor a user has given, and that have an effect. If no family is named, uses
// the usual one for such a machine. May be called again after the family or its inputs have changed. `family` is that of an
// earlier call, or empty; its file is read only if another family is named now. REQUIRES: `settings` is complete. Errors:
// ConfigError for an unknown family.
void apply_contention(Settings& settings, const KeySpace& keys, Family& family);

}  // namespace linebounce::sim
