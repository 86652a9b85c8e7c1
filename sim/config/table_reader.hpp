// Reads a TOML table key by key. finish() rejects all keys that were not read, so a misspelt key is never ignored.
#pragma once

#include <toml++/toml.h>

#include <optional>
#include <string>

#include "sim/config/settings.hpp"

namespace linebounce::sim {

class TableReader {
 public:
  // `path`: the table's own path, for messages, such as "paper"; empty for the file's top level.
  TableReader(const toml::table& table, std::string file, std::string path)
      : table_(table), file_(std::move(file)), path_(std::move(path)) {}

  // Each of these reads a key, or returns none if it is absent. Errors: ConfigError for a wrong type, a value out of range,
  // or an illegal choice.
  std::optional<std::string> text(const std::string& key, std::vector<std::string> choices = {});
  std::optional<double> number(const std::string& key, double minimum = -std::numeric_limits<double>::infinity());
  std::optional<std::int64_t> integer(const std::string& key, double minimum, double maximum);
  std::optional<bool> flag(const std::string& key);
  const toml::table* table(const std::string& key);
  const toml::array* array(const std::string& key);
  const toml::node* node(const std::string& key);  // of any type

  std::string required_text(const std::string& key);

  // Rejects keys that were not read. Errors: ConfigError at the first of them.
  void finish() const;

  [[nodiscard]] Origin origin_of(const std::string& key) const;  // the key's position, or the table's if the key is absent
  [[nodiscard]] std::string path_of(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  [[noreturn]] void refuse(const std::string& key, std::string_view text) const { fail(origin_of(key), path_of(key), text); }

 private:
  std::optional<ConfigValue> value(const KeyInfo& key, const std::string& name);

  const toml::table& table_;
  std::string file_;
  std::string path_;
  KeySpace asked_;
};

}  // namespace linebounce::sim
