// Settings: values at dotted paths ("machine.memory.latency_ns"), and the legal keys. Machine files, [set], [sweep], --set
// and `at` all use this code, so a path has the same meaning and the same checks everywhere.
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
  double minimum = -std::numeric_limits<double>::infinity();  // for numbers
  double maximum = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices = {};  // for texts; empty: any
  bool structural = false;                // defines the machine (its name, its number of CPUs), so only its file may set it
  // The parameter that must differ from its default for this one to have an effect; empty: none. Until it differs, lists and
  // the resolved configuration leave out this one's default.
  std::string needs = {};
  std::optional<ConfigValue> default_value = {};     // for fixed parameters with a default
  std::map<std::string, std::string> refusals = {};  // texts that exist but are illegal for this key, and why
  std::string files_of = {};  // for texts: if not empty, also accepts the path of such a file: "lock", "counter"
};

// Where a value was written, for messages.
struct Origin {
  std::string place;        // "FILE:LINE:COLUMN", "FILE" or "--set"
  std::string hidden = {};  // the prefix that the file leaves out of every path: "machine." in a machine file
  std::string given = {};   // the source to record for a value that overrides its machine file's; empty: keep the file's
};

struct Setting {
  // Who sets the value. given: a file or the user. family: the machine's contention family. schema: its default.
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

// All leaves below a table, in the order of the text. Nested tables and quoted keys with dots give the same paths. Skips the
// top-level keys in `skip`.
std::vector<Leaf> leaves(const toml::table& table, const std::string& prefix, const std::string& file, const Origin& origin,
                         const std::vector<std::string_view>& skip = {});

// The plain value of a leaf. Errors: ConfigError for an array, a table, a date, and for infinity and NaN.
ConfigValue plain_value(const toml::node& node, const Origin& origin, std::string_view path, ValueType expected);

// The normal form of a value: a whole number becomes an integer, so that 100 and 100.0 are equal.
ConfigValue canonical(const ConfigValue& value);

// Converts a value to its key's type and to normal form. Errors: ConfigError for a wrong type, a value out of range, or an
// illegal choice.
ConfigValue checked(const KeyInfo& key, const ConfigValue& value, const Origin& origin);
ConfigValue checked(const KeyInfo& key, const Leaf& leaf);

// A value in messages and lists: 12, 0.5, true, sc.
std::string plain_text(const ConfigValue& value);

toml::table& table_at(toml::table& root, std::string_view path);  // creates missing tables
void insert_value(toml::table& table, const std::string& key, const ConfigValue& value);

// The legal keys of a configuration.
class KeySpace {
 public:
  KeySpace() = default;
  void add(const KeyInfo& key);
  void add(const std::vector<KeyInfo>& keys);

  [[nodiscard]] const KeyInfo* find(std::string_view path) const;
  // Errors: ConfigError, which suggests similar keys or the right unit, or lists the legal keys of the table.
  [[nodiscard]] const KeyInfo& require(std::string_view path, const Origin& origin) const;
  // Also refuses structural keys. All files but a machine's own use this.
  [[nodiscard]] const KeyInfo& require_settable(std::string_view path, const Origin& origin) const;
  [[nodiscard]] const std::vector<KeyInfo>& keys() const { return keys_; }
  [[nodiscard]] bool is_table(std::string_view path) const;
  [[nodiscard]] std::string unknown_text(std::string_view path, std::string_view hidden) const;
  [[nodiscard]] std::string table_text(std::string_view path, std::string_view hidden) const;

 private:
  [[nodiscard]] std::vector<std::string> paths_and_tables() const;
  [[nodiscard]] std::string legal_text(std::string_view path, std::string_view hidden) const;

  std::vector<KeyInfo> keys_;  // in the order of lists
};

// Checks every leaf against the legal keys, and stores it.
void read_settings(const std::vector<Leaf>& leaves, const KeySpace& keys, Settings& settings);

// Splits the "PATH=VALUE" arguments of --set, for Overrides. Errors: ConfigError.
std::vector<std::pair<std::string, std::string>> split_sets(const std::vector<std::string>& sets);

}  // namespace linebounce::sim
