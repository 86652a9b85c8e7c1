// A machine as its tables state it: the content of a machine file, or [machine] of a resolved configuration.
#pragma once

#include <toml++/toml.h>

#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/contention.hpp"
#include "sim/config/machine_history.hpp"
#include "sim/config/schema.hpp"
#include "sim/config/settings.hpp"

namespace linebounce::sim {

struct MachineTables {
  PartNames parts;
  KeySpace keys;                   // the legal keys of this machine
  Settings settings;               // every parameter, with defaults filled in
  std::set<std::string> defaults;  // the paths of all parameters that the text does not set
  Sources sources;
  std::vector<HistoryEntry> history;
  Family family;  // the contention family of `settings`
};

// Reads a machine's tables. `origin`: the file, and the prefix that paths in it leave out. Cache levels and groups keep the
// order of the text unless `cache_levels` or `group_levels` states another. Errors: ConfigError.
MachineTables read_machine_tables(const toml::table& table, const std::filesystem::path& file, const Origin& origin);

// Reads the tables of a machine file's text.
MachineTables read_machine_text(const std::string& text, const std::filesystem::path& file);

// Reads NAME (configs/machines/NAME.toml), or a path relative to `base`. `context`: begins the message for an unknown name.
// Errors: ConfigError.
MachineTables read_machine_file(const std::string& name_or_path, const std::filesystem::path& base, const std::string& context);

// The recorded source of a value that affects the cost of sharing, but that the machine's file leaves out.
inline constexpr const char* kLeftOutSource = "assumed: left out of the machine's file";

// States what the simulator assumes because the machine's file leaves it out. There are at most two sentences: one for
// latencies of sharing, which are then 0, and one for the contention family, which is then a guess. A resolved configuration
// sets all values; its sources tell which of them were left out.
std::vector<std::string> assumptions_of(const Settings& settings, const Sources& sources);

// The keys that name a machine's protocols: of the snooping caches, of the node controllers, and of the directories.
inline constexpr std::array<std::string_view, 3> kProtocolKeys = {"machine.bus.protocol", "machine.node.protocol",
                                                                  "machine.directory.protocol"};

// Makes a value that names a file absolute, if it is a relative path from `base`. Applies to protocols, the layout, the
// trace, and files in Lua or C among the workload's parameters. Returns any other value as it is.
ConfigValue anchor_path(const std::string& path, const ConfigValue& value, const std::filesystem::path& base);

// Sets the line size of every cache and bus to `machine.line_bytes`, if that is not 0. `settings` need not contain the
// caches' line sizes. Errors: ConfigError if a cache or bus is set to another size, unless the user overrides the file's
// sizes with --set machine.line_bytes.
void apply_line_size(Settings& settings, const PartNames& parts);

// Checks that the machine's parts fit together: sizes, CPU numbers, links between nodes, protocols. Fills in the coherence
// line size. REQUIRES: `machine` is the typed form of `settings`. Errors: ConfigError at the key to change.
void check_machine(MachineSpec& machine, const Settings& settings);

}  // namespace linebounce::sim
