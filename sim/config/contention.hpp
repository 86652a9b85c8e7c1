// Contention families, configs/families/NAME.toml: what waiting costs on one kind of processor. A machine names its family as
// `contention`. A value in the machine's file overrides the family's. All families have the same parameters.
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
    // From [ranges]: other values that such a processor may have; empty: no other value is likely.
    std::vector<ConfigValue> others = {};
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

// Fills in the family's values for parameters that neither a file nor the user has set, and that have an effect. If no family
// is named, uses the usual family for such a machine. May be called again after the family or its inputs have changed.
// `family`: the one from an earlier call, or empty; the file is read again only if the name has changed. REQUIRES: `settings`
// is complete. Errors: ConfigError for an unknown family.
void apply_contention(Settings& settings, const KeySpace& keys, Family& family);

}  // namespace linebounce::sim
