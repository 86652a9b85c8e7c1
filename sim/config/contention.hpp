// Contention families, configs/families/NAME.toml: what waiting costs on processors of one kind. A machine names its family as
// `contention`; a value in the machine's file wins over the family's. Each family states the same parameters.
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
  };
  std::string name;
  std::string title;
  std::vector<Parameter> parameters;
};

// Reads configs/families/NAME.toml. `context` precedes the message for an unknown name. Errors: ConfigError.
Family load_family(const std::string& name, const std::string& context);

// The family of a processor by the name that it gives itself ("AMD EPYC 7763 64-Core Processor"); empty: not known.
std::string contention_of_processor(std::string_view model);

// Gives `settings` the family's values where neither a file nor a user has given one, and only those that have an effect.
// Names the family that is usual for such a machine if nobody has named one. May be called again after the family or what it
// depends on was changed. `family` is the one of an earlier call, or empty; its file is read only if another one is named now.
// REQUIRES: `settings` is complete. Errors: ConfigError for an unknown family.
void apply_contention(Settings& settings, const KeySpace& keys, Family& family);

}  // namespace linebounce::sim
