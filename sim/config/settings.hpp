// Settings are values at dotted paths, such as "machine.memory.latency_ns". Machine files, [set], [sweep], --set and `at` all
// use this code, so a path has the same meaning and the same checks everywhere.
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
  // Defines the machine itself (its name or number of CPUs); only the machine's file may set it.
  bool structural = false;
  // The parameter on which this one depends; empty: none. While `needs` is at its default, this parameter has no effect, and
  // lists and resolved configurations leave out its default.
  std::string needs = {};
  std::optional<ConfigValue> default_value = {};     // none: the key is required
  std::map<std::string, std::string> refusals = {};  // names that exist but are illegal for this key, each with the reason
  std::string files_of = {};  // "lock" or "counter": also accepts the path of such a file; empty: accepts no files
};

// The position at which a value was written, for messages.
struct Origin {
  std::string place;        // "FILE:LINE:COLUMN", "FILE" or an option
  std::string hidden = {};  // the prefix that the file omits from every path; "machine." in a machine file
  // The source to record if the value overrides that of a machine file; empty: keeps the file's source.
  std::string given = {};
  bool is_typed = false;  // on the command line
};

// From a path to the option that sets it instead of --set, for messages: "machine.cpus" to "--cpus".
using OptionNames = std::map<std::string, std::string>;

// The origin of a value that the command line gives to a path.
Origin typed_origin(const OptionNames& options, const std::string& path);

// "PLACE: KEY", or the place alone if that is an option such as --seed, which stands for this key.
std::string located(const Origin& origin, std::string_view path);

struct Setting {
  // Where the value comes from. given: a file or the user. family: the contention family. schema: the parameter's default.
  enum class From : std::uint8_t { given, family, schema };

  ConfigValue value;
  Origin origin;
  From from = From::given;
};

using Settings = std::map<std::string, Setting>;  // by path

// A value of a TOML table, or an empty table, with its full path.
struct Leaf {
  std::string path;
  const toml::node* node;
  Origin origin;
};

// Throws ConfigError "PLACE: KEY: TEXT".
[[noreturn]] void fail(const Origin& origin, std::string_view path, std::string_view text);

// Returns all leaves below a table, in the order of the text. Nested tables and dotted keys in quotes give the same paths.
// `skip`: top-level keys to leave out.
std::vector<Leaf> leaves(const toml::table& table, const std::string& prefix, const std::string& file, const Origin& origin,
                         const std::vector<std::string_view>& skip = {});

// Converts a leaf to a plain value. Errors: ConfigError for an array, a table, a date, infinity or NaN.
ConfigValue plain_value(const toml::node& node, const Origin& origin, std::string_view path, ValueType expected);

// Converts whole numbers to integers, so that 100 and 100.0 are equal.
ConfigValue canonical(const ConfigValue& value);

// Converts a value to its key's type and to canonical form. Errors: ConfigError for a wrong type, a value out of range, or an
// illegal choice.
ConfigValue checked(const KeyInfo& key, const ConfigValue& value, const Origin& origin);
ConfigValue checked(const KeyInfo& key, const Leaf& leaf);

// Formats a value for messages and lists: 12, 0.5, true, sc.
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
  // Finds a key. Errors: ConfigError, which suggests similar keys or the right unit, or else lists the legal keys of the
  // table.
  [[nodiscard]] const KeyInfo& require(std::string_view path, const Origin& origin) const;
  // Like require(), but also rejects structural keys, which only a machine's file may set.
  [[nodiscard]] const KeyInfo& require_settable(std::string_view path, const Origin& origin) const;
  [[nodiscard]] const std::vector<KeyInfo>& keys() const { return keys_; }
  [[nodiscard]] bool is_table(std::string_view path) const;
  [[nodiscard]] std::string unknown_text(std::string_view path, std::string_view hidden) const;
  [[nodiscard]] std::string table_text(std::string_view path, std::string_view hidden) const;

 private:
  [[nodiscard]] std::vector<std::string> paths_and_tables() const;
  [[nodiscard]] std::string legal_text(std::string_view path, std::string_view hidden) const;

  std::vector<KeyInfo> keys_;  // in the order in which lists show them
};

// Checks each leaf against the legal keys, and stores its value in `settings`.
void read_settings(const std::vector<Leaf>& leaves, const KeySpace& keys, Settings& settings);

// Splits the arguments of --set, "PATH=VALUE", for Overrides. Errors: ConfigError.
std::vector<std::pair<std::string, std::string>> split_sets(const std::vector<std::string>& sets);

}  // namespace linebounce::sim
