// Settings: values at dotted paths ("machine.memory.latency_ns"), whoever gave them, and the keys that are legal. Machine
// files, [set], [sweep], --set and `at` all go through here, so a path means the same everywhere and is checked the same way.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/point/config_value.hpp"

namespace linebounce::sim {

enum class ValueType { boolean, integer, number, text };
ValueType type_of(const ConfigValue& value);

// One legal key.
struct KeyInfo {
  std::string path;
  ValueType type = ValueType::number;
  std::string unit;  // empty: none
  std::string meaning;
  double minimum = -std::numeric_limits<double>::infinity();  // numbers only
  double maximum = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices = {};  // texts only; empty: any
  bool structural = false;  // part of what the machine is (its name, its number of CPUs): stands in its file and nowhere else
  // The parameter that has to differ from its default for this one to have an effect; empty: there is none. While it doesn't,
  // listings and the resolved configuration leave out this one's default.
  std::string needs = {};
  std::optional<ConfigValue> default_value = {};     // of fixed parameters that have one
  std::map<std::string, std::string> refusals = {};  // texts that exist and are none of the choices: why
  std::string files_of = {};                         // texts: the path of a file is legal, too: of a "lock", of a "counter"
};

// Who gave a value: for messages.
struct Origin {
  std::string place;        // "FILE:LINE:COLUMN", "FILE" or "--set"
  std::string hidden = {};  // the part of every path that the file leaves out: "machine." in a machine file
  std::string given = {};   // what a parameter's source says of a value that overrides its machine file's; empty: it doesn't
};

struct Setting {
  // given: a file or a user states the value. family: the machine's contention family does. schema: it is the default.
  enum class From : std::uint8_t { given, family, schema };

  ConfigValue value;
  Origin origin;
  From from = From::given;
};

using Settings = std::map<std::string, Setting>;  // by path

// A leaf of a TOML table (or an empty table) with its path.
struct Leaf {
  std::string path;
  const toml::node* node;
  Origin origin;
};

// Throws ConfigError "PLACE: KEY: TEXT".
[[noreturn]] void fail(const Origin& origin, std::string_view path, std::string_view text);

// All leaves below a table, in the order of the text; keys that contain dots (quoted) and nested tables give the same paths.
// Top-level keys in `skip` are left out.
std::vector<Leaf> leaves(const toml::table& table, const std::string& prefix, const std::string& file, const Origin& origin,
                         const std::vector<std::string_view>& skip = {});

// The plain value of a leaf. Errors: ConfigError for an array, a table, a date, and for infinity and NaN.
ConfigValue plain_value(const toml::node& node, const Origin& origin, std::string_view path, ValueType expected);

// The one form of a value: a number that is whole is an integer, so that 100 and 100.0 are the same.
ConfigValue canonical(const ConfigValue& value);

// A value as its key wants it, in the canonical form.
// Errors: ConfigError for a wrong type, a value out of range, or none of the choices.
ConfigValue checked(const KeyInfo& key, const ConfigValue& value, const Origin& origin);
ConfigValue checked(const KeyInfo& key, const Leaf& leaf);

// A value for messages and listings: 12, 0.5, true, sc.
std::string plain_text(const ConfigValue& value);

toml::table& table_at(toml::table& root, std::string_view path);  // makes what is missing
void insert_value(toml::table& table, const std::string& key, const ConfigValue& value);

// The legal keys of a configuration.
class KeySpace {
 public:
  KeySpace() = default;
  void add(const KeyInfo& key);
  void add(const std::vector<KeyInfo>& keys);

  [[nodiscard]] const KeyInfo* find(std::string_view path) const;
  // Errors: ConfigError that names what is near, the right unit, or the legal keys of that table.
  [[nodiscard]] const KeyInfo& require(std::string_view path, const Origin& origin) const;
  // Also refuses structural keys: for everything but a machine's own tables.
  [[nodiscard]] const KeyInfo& require_settable(std::string_view path, const Origin& origin) const;
  [[nodiscard]] const std::vector<KeyInfo>& keys() const { return keys_; }
  [[nodiscard]] bool is_table(std::string_view path) const;
  [[nodiscard]] std::string unknown_text(std::string_view path, std::string_view hidden) const;

 private:
  [[nodiscard]] std::vector<std::string> paths_and_tables() const;
  [[nodiscard]] std::string legal_text(std::string_view path, std::string_view hidden) const;

  std::vector<KeyInfo> keys_;  // in the order of listings
};

// Checks every leaf against the legal keys.
void read_settings(const std::vector<Leaf>& leaves, const KeySpace& keys, Settings& settings);

// What --set has been given, "PATH=VALUE" each, as Overrides wants it. Errors: ConfigError.
std::vector<std::pair<std::string, std::string>> split_sets(const std::vector<std::string>& sets);

}  // namespace linebounce::sim
