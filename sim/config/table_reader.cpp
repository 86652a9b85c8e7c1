#include "sim/config/table_reader.hpp"

#include <fmt/format.h>

#include "sim/config/toml_text.hpp"

namespace linebounce::sim {

Origin TableReader::origin_of(const std::string& key) const {
  const auto* found = table_.get(key);
  return Origin{place_of(file_, found ? found->source() : table_.source())};
}

const toml::node* TableReader::node(const std::string& key) {
  asked_.add(KeyInfo{path_of(key), ValueType::text, "", ""});
  return table_.get(key);
}

std::optional<ConfigValue> TableReader::value(const KeyInfo& key, const std::string& name) {
  const auto* found = node(name);
  if (!found) return std::nullopt;
  return checked(key, Leaf{key.path, found, origin_of(name)});
}

std::optional<std::string> TableReader::text(const std::string& key, std::vector<std::string> choices) {
  KeyInfo info{path_of(key), ValueType::text, "", ""};
  info.choices = std::move(choices);
  const auto found = value(info, key);
  if (!found) return std::nullopt;
  return std::get<std::string>(*found);
}

std::optional<double> TableReader::number(const std::string& key, double minimum) {
  const auto found = value(KeyInfo{path_of(key), ValueType::number, "", "", minimum}, key);
  if (!found) return std::nullopt;
  const auto* integer = std::get_if<std::int64_t>(&*found);
  return integer ? static_cast<double>(*integer) : std::get<double>(*found);
}

std::optional<std::int64_t> TableReader::integer(const std::string& key, double minimum, double maximum) {
  const auto found = value(KeyInfo{path_of(key), ValueType::integer, "", "", minimum, maximum}, key);
  if (!found) return std::nullopt;
  return std::get<std::int64_t>(*found);
}

std::optional<bool> TableReader::flag(const std::string& key) {
  const auto found = value(KeyInfo{path_of(key), ValueType::boolean, "", ""}, key);
  if (!found) return std::nullopt;
  return std::get<bool>(*found);
}

const toml::table* TableReader::table(const std::string& key) {
  const auto* found = node(key);
  if (found && !found->is_table()) refuse(key, fmt::format("expected a table, found {}", describe_node(*found)));
  return found ? found->as_table() : nullptr;
}

const toml::array* TableReader::array(const std::string& key) {
  const auto* found = node(key);
  if (found && !found->is_array()) refuse(key, fmt::format("expected a list, found {}", describe_node(*found)));
  return found ? found->as_array() : nullptr;
}

std::string TableReader::required_text(const std::string& key) {
  const auto found = text(key);
  if (!found) refuse(key, "this key is missing and has no default");
  if (found->empty()) refuse(key, "expected a string, found an empty one");
  return *found;
}

void TableReader::finish() const {
  for (const auto& leaf : leaves(table_, path_, file_, {})) {
    std::string key = leaf.path.substr(path_.empty() ? 0 : path_.size() + 1);
    key = key.substr(0, key.find('.'));
    if (asked_.find(path_of(key))) continue;
    const auto found = table_.find(key);
    const Origin at{found == table_.end() ? leaf.origin.place : place_of(file_, found->first.source())};
    fail(at, path_of(key), asked_.unknown_text(path_of(key), ""));
  }
}

}  // namespace linebounce::sim
