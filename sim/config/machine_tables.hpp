// A machine as its tables state it, from a machine file or from [machine] in a resolved configuration.
#pragma once

#include <toml++/toml.h>

#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/machine_history.hpp"
#include "sim/config/schema.hpp"
#include "sim/config/settings.hpp"

namespace linebounce::sim {

struct MachineTables {
  PartNames parts;
  KeySpace keys;                   // the legal keys of this machine
  Settings settings;               // every parameter, with defaults filled in
  std::set<std::string> defaults;  // the paths that the text leaves out
  Sources sources;
  std::vector<HistoryEntry> history;
};

// Reads the tables of a machine. `origin` is their position (place: the file) and the prefix that their paths leave out. Cache
// levels and groups are in the order of the text unless `cache_levels` or `group_levels` names it. Errors: ConfigError.
MachineTables read_machine_tables(const toml::table& table, const std::filesystem::path& file, const Origin& origin);

// Reads the tables of a machine file's text.
MachineTables read_machine_text(const std::string& text, const std::filesystem::path& file);

// Reads the tables of NAME (configs/machines/NAME.toml) or of a path relative to `base`. `context` precedes the message for an
// unknown name.
MachineTables read_machine_file(const std::string& name_or_path, const std::filesystem::path& base, const std::string& context);

// The source of a value that decides the cost of sharing and that the machine's file leaves out.
inline constexpr const char* kLeftOutSource = "assumed: left out of the machine's file";

// The assumptions that the simulator makes because the machine's file leaves something out: times of sharing that are then 0,
// and the usual contention family. One sentence for each of the two; empty if the file states both. A resolved configuration
// states every value, and its sources say which of them the machine's file left out.
std::vector<std::string> assumptions_of(const Settings& settings, const Sources& sources);

// The keys that name a protocol: that of the caches on a bus, of the controllers behind the buses, and of the homes'
// directories.
inline constexpr std::array<std::string_view, 3> kProtocolKeys = {"machine.bus.protocol", "machine.node.protocol",
                                                                  "machine.directory.protocol"};

// Makes a relative path in the value of a protocol's or the layout's key relative to `base`; names and other values stay as
// they are.
ConfigValue anchor_path(const std::string& path, const ConfigValue& value, const std::filesystem::path& base);

// Gives every cache and bus the size of `machine.line_bytes`, if that is not 0. `settings` may lack those of caches. Errors:
// ConfigError if one of them is set to another size at the same level, such as --set.
void apply_line_size(Settings& settings, const PartNames& parts);

// Checks what no single key can express: sizes that fit each other, CPUs that exist, nodes that are joined, protocols that
// exist. Fills in the coherence line. REQUIRES: `machine` is the typed form of `settings`. Errors: ConfigError at the key to
// change.
void check_machine(MachineSpec& machine, const Settings& settings);

}  // namespace linebounce::sim
