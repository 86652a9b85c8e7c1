// Contention families (configs/families/NAME.toml) state what waiting costs on one kind of processor. A machine's key
// `contention` names its family. A value in the machine's own file takes precedence over the family's. All families have the
// same parameters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/settings.hpp"

namespace linebounce::sim {

inline constexpr const char* kContention = "machine.contention";

inline constexpr const char* kFrontSideBus = "front_side_bus";

struct Family {
  struct Parameter {
    std::string path;  // "machine.cpu.hold_ns"
    Setting setting;
    std::string source;
    // From [ranges]: other plausible values for such a processor. Empty if only the family's own value is likely.
    std::vector<ConfigValue> others = {};
  };
  std::string name;
  std::string title;
  std::vector<Parameter> parameters;
};

// Reads configs/families/NAME.toml. `context` precedes the message for an unknown name. Errors: ConfigError.
Family load_family(const std::string& name, const std::string& context);

// The text to record in [sources] for a value that a machine takes from its family.
std::string family_source(const Family::Parameter& parameter, const std::string& family);

// Guesses the family from a processor's model name, such as "AMD EPYC 7763 64-Core Processor". Empty if unknown.
std::string contention_of_processor(std::string_view model);

// The family that a machine's bus, protocol and memory order suggest. REQUIRES: `settings` is complete.
std::string usual_family(const Settings& settings);

// Sets each parameter that has an effect, and that neither a file nor the user has set, to its family's value. If no family
// is named, guesses one from the machine's bus, protocol and memory model. May be called again after the family or its inputs
// have changed. `family`: caches the file that was read; pass the same object to each call. REQUIRES: `settings` is complete.
// Errors: ConfigError for an unknown family.
void apply_contention(Settings& settings, const KeySpace& keys, Family& family);

}  // namespace linebounce::sim
