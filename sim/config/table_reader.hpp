// Reads a TOML table key by key. finish() refuses keys that were not read, so that a misspelt key is never ignored.
#pragma once

#include <toml++/toml.h>

#include <optional>
#include <string>

#include "sim/config/settings.hpp"

namespace linebounce::sim {

class TableReader {
 public:
  // `path`: the table's own path, for messages ("paper"; empty at the top).
  TableReader(const toml::table& table, std::string file, std::string path)
      : table_(table), file_(std::move(file)), path_(std::move(path)) {}

  // Each of these returns none if the key is absent. Errors: ConfigError for a wrong type, a value out of range, or an
  // illegal choice.
  std::optional<std::string> text(const std::string& key, std::vector<std::string> choices = {});
  std::optional<double> number(const std::string& key, double minimum = -std::numeric_limits<double>::infinity());
  std::optional<std::int64_t> integer(const std::string& key, double minimum, double maximum);
  std::optional<bool> flag(const std::string& key);
  const toml::table* table(const std::string& key);
  const toml::array* array(const std::string& key);
  const toml::node* node(const std::string& key);  // of any type

  std::string required_text(const std::string& key);

  // Errors: ConfigError at the first key that was not read.
  void finish() const;

  [[nodiscard]] Origin origin_of(const std::string& key) const;  // where the key is; where the table is if the key is absent
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
