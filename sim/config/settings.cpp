#include "sim/config/settings.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "models/text/spelling.hpp"
#include "models/text/visible.hpp"
#include "sim/config/lua_files.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/config/toml_text.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

constexpr double kLargestExactInteger = 9007199254740992.0;  // 2^53
// Linux's limit on paths, in bytes. Each point of a sweep has its own copy of a text.
constexpr std::size_t kLongestText = 4096;

std::string_view type_text(ValueType type) {
  switch (type) {
    case ValueType::boolean: return "true or false";
    case ValueType::integer: return "an integer";
    case ValueType::number: return "a number";
    case ValueType::text: break;
  }
  return "a string";
}

std::string_view shown(std::string_view path, std::string_view hidden) {
  if (!hidden.empty() && path.starts_with(hidden)) path.remove_prefix(hidden.size());
  return path;
}

bool below(std::string_view path, std::string_view table) {
  return path.size() > table.size() && path.starts_with(table) && path[table.size()] == '.';
}

toml::source_position position(const toml::key& key) {
  return key.source().begin;
}

ConfigValue to_value(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  return node.as_string()->get();
}

std::string quoted(const ConfigValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text ? fmt::format("a string (\"{}\")", *text)
              : fmt::format("{} ({})",
                            std::holds_alternative<bool>(value)     ? "a boolean"
                            : std::holds_alternative<double>(value) ? "a float"
                                                                    : "an integer",
                            plain_text(value));
}

bool fits(ValueType type, const ConfigValue& value) {
  switch (type) {
    case ValueType::boolean: return std::holds_alternative<bool>(value);
    case ValueType::integer: return std::holds_alternative<std::int64_t>(value);
    case ValueType::number: return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
    case ValueType::text: break;
  }
  return std::holds_alternative<std::string>(value);
}

std::string range_text(const KeyInfo& key) {
  const auto number = [](double limit) { return plain_text(canonical(limit)); };
  if (!std::isfinite(key.maximum)) return "at least " + number(key.minimum);
  return fmt::format("{} to {}", number(key.minimum), number(key.maximum));
}

void check_range(const KeyInfo& key, const ConfigValue& value, const Origin& origin) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  const double number = integer ? static_cast<double>(*integer) : std::get<double>(value);
  if (number >= key.minimum && number <= key.maximum) return;
  fail(origin, key.path,
       fmt::format("{} is out of range; legal: {}{}{}", plain_text(value), range_text(key), key.unit.empty() ? "" : " ",
                   key.unit));
}

std::vector<std::string> first_two(const KeyInfo& key) {
  return {key.choices.begin(), key.choices.begin() + std::min<std::ptrdiff_t>(2, std::ssize(key.choices))};
}

// The message of not_known() for a key that also takes the name of a file.
std::string not_known_value(const KeyInfo& key, const std::string& text) {
  if (text.starts_with('[')) return fmt::format("{}: a list ends with ], such as [{}]", text, fmt::join(first_two(key), ","));
  if (text.find(',') != std::string::npos)
    return fmt::format("{} is no value; a list is written with brackets: [{}]", text, text);
  std::string message = not_known(text, key.choices);
  for (const char* extension : {".lua", ".c"}) {
    std::error_code ignored;
    if (!key.files_of.empty() && std::filesystem::is_regular_file(text + extension, ignored))
      return fmt::format("\"{0}\" is not known; did you mean the file {0}{1}?", text, extension);
  }
  if (key.files_of.empty()) return message;
  return fmt::format("{}{} give a {}'s file, NAME.lua{}", message, message.ends_with('?') ? " Or" : "; or", key.files_of,
                     key.files_of == "lock" ? " or NAME.c" : "");
}

void check_text(const KeyInfo& key, const std::string& text, const Origin& origin) {
  if (key.choices.empty()) {
    if (text.size() > kLongestText)
      fail(origin, key.path, fmt::format("a string of {} bytes is too long; legal: at most {}", text.size(), kLongestText));
    return;
  }
  if (!key.files_of.empty() && is_source_path(text)) return;
  if (std::ranges::find(key.choices, text) != key.choices.end()) return;
  const auto refusal = key.refusals.find(text);
  fail(origin, key.path,
       refusal == key.refusals.end()
           ? not_known_value(key, text)
           : fmt::format("{} can't be used here: {}; legal: {}", text, refusal->second, fmt::join(key.choices, ", ")));
}

void collect(const toml::table& table, const std::string& prefix, const std::string& file, const Origin& origin,
             const std::vector<std::string_view>& skip, std::vector<Leaf>& out) {
  std::vector<std::pair<toml::source_position, std::string>> keys;
  for (const auto& [key, value] : table) keys.emplace_back(position(key), std::string(key.str()));
  std::ranges::stable_sort(keys, [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [place, name] : keys) {
    if (std::ranges::find(skip, name) != skip.end()) continue;
    const toml::node& value = *table.get(name);
    const std::string path = prefix + (prefix.empty() ? "" : ".") + name;
    const auto* inner = value.as_table();
    if (inner && !inner->empty()) {
      collect(*inner, path, file, origin, {}, out);
      continue;
    }
    Origin here = origin;
    const bool at_key = inner != nullptr;
    here.place = place_of(file, at_key ? table.find(name)->first.source() : value.source());
    out.push_back({path, &value, here});
  }
}

}  // namespace

ValueType type_of(const ConfigValue& value) {
  if (std::holds_alternative<bool>(value)) return ValueType::boolean;
  if (std::holds_alternative<std::int64_t>(value)) return ValueType::integer;
  return std::holds_alternative<double>(value) ? ValueType::number : ValueType::text;
}

Origin typed_origin(const OptionNames& options, const std::string& path) {
  const auto option = options.find(path);
  const bool by_set = option == options.end();
  return {.place = by_set ? "--set" : option->second, .hidden = by_set ? "" : path, .is_typed = true};
}

std::string located(const Origin& origin, std::string_view path) {
  return origin.hidden == path ? origin.place : fmt::format("{}: {}", origin.place, shown(path, origin.hidden));
}

void fail(const Origin& origin, std::string_view path, std::string_view text) {
  throw ConfigError(fmt::format("{}: {}", located(origin, visible_name(path)), text));
}

std::vector<Leaf> leaves(const toml::table& table, const std::string& prefix, const std::string& file, const Origin& origin,
                         const std::vector<std::string_view>& skip) {
  std::vector<Leaf> out;
  collect(table, prefix, file, origin, skip, out);
  return out;
}

ConfigValue plain_value(const toml::node& node, const Origin& origin, std::string_view path, ValueType expected) {
  const bool plain = node.is_boolean() || node.is_integer() || node.is_floating_point() || node.is_string();
  if (!plain) fail(origin, path, fmt::format("expected {}, found {}", type_text(expected), describe_node(node)));
  ConfigValue value = to_value(node);
  const auto* number = std::get_if<double>(&value);
  if (number && !std::isfinite(*number)) {
    fail(
        origin, path,
        fmt::format("expected {}, found {}; a value must be finite", type_text(expected), std::isnan(*number) ? "nan" : "inf"));
  }
  return value;
}

ConfigValue canonical(const ConfigValue& value) {
  const auto* number = std::get_if<double>(&value);
  if (!number || *number != std::floor(*number) || std::abs(*number) > kLargestExactInteger) return value;
  return static_cast<std::int64_t>(*number);
}

ConfigValue checked(const KeyInfo& key, const ConfigValue& given, const Origin& origin) {
  ConfigValue value = canonical(given);
  if (!fits(key.type, value)) {
    const auto* text = std::get_if<std::string>(&given);
    const bool is_number = key.type == ValueType::integer || key.type == ValueType::number;
    fail(origin, key.path,
         fmt::format("expected {}{}, found {}{}", type_text(key.type), key.unit.empty() ? "" : " of " + key.unit, quoted(given),
                     text != nullptr && is_number ? number_meant(*text, key.unit) : ""));
  }
  if (key.type == ValueType::integer || key.type == ValueType::number) check_range(key, value, origin);
  if (key.type == ValueType::text) check_text(key, std::get<std::string>(value), origin);
  return value;
}

ConfigValue checked(const KeyInfo& key, const Leaf& leaf) {
  return checked(key, plain_value(*leaf.node, leaf.origin, leaf.path, key.type), leaf.origin);
}

std::string plain_text(const ConfigValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::get<double>(value)).ptr;
  return {buffer.data(), end};
}

toml::table& table_at(toml::table& root, std::string_view path) {
  toml::table* table = &root;
  while (!path.empty()) {
    const auto dot = path.find('.');
    const std::string_view name = path.substr(0, dot);
    path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
    table = table->insert(name, toml::table{}).first->second.as_table();
  }
  return *table;
}

void insert_value(toml::table& table, const std::string& key, const ConfigValue& value) {
  std::visit([&](const auto& plain) { table.insert_or_assign(key, plain); }, value);
}

void KeySpace::add(const KeyInfo& key) {
  if (!find(key.path)) keys_.push_back(key);
}

void KeySpace::add(const std::vector<KeyInfo>& keys) {
  for (const auto& key : keys) add(key);
}

const KeyInfo* KeySpace::find(std::string_view path) const {
  const auto found = std::ranges::find_if(keys_, [&](const KeyInfo& key) { return key.path == path; });
  return found == keys_.end() ? nullptr : &*found;
}

bool KeySpace::is_table(std::string_view path) const {
  return std::ranges::any_of(keys_, [&](const KeyInfo& key) { return below(key.path, path); });
}

std::vector<std::string> KeySpace::paths_and_tables() const {
  std::vector<std::string> all;
  for (const auto& key : keys_) all.push_back(key.path);
  const auto add_table = [&](const std::string& table) {
    if (std::ranges::find(all, table) == all.end()) all.push_back(table);
  };
  for (const auto& key : keys_) {
    for (auto dot = key.path.find('.'); dot != std::string::npos; dot = key.path.find('.', dot + 1))
      add_table(key.path.substr(0, dot));
  }
  return all;
}

std::string KeySpace::legal_text(std::string_view path, std::string_view hidden) const {
  // Finds the innermost enclosing table that exists. Its keys are the legal ones.
  std::string_view table = path;
  while (!table.empty() && !is_table(table))
    table = table.substr(0, table.rfind('.') == std::string_view::npos ? 0 : table.rfind('.'));
  std::vector<std::string_view> legal;
  for (const auto& key : keys_) {
    if (!table.empty() && !below(key.path, table)) continue;
    const std::string_view rest = std::string_view(key.path).substr(table.empty() ? 0 : table.size() + 1);
    const std::string_view child = rest.substr(0, rest.find('.'));
    if (std::ranges::find(legal, child) == legal.end()) legal.push_back(child);
  }
  const bool top = table.empty() || table.size() + 1 == hidden.size();
  return fmt::format("legal {}: {}", top ? "here" : fmt::format("below {}", shown(table, hidden)), fmt::join(legal, ", "));
}

static std::string written_unit(std::string_view suffix) {
  if (suffix.ends_with("hz")) return std::string(suffix.substr(0, suffix.size() - 2) == "m" ? "MHz" : suffix);
  return suffix == "kib" ? "KiB" : suffix == "mib" ? "MiB" : suffix == "pct" ? "%" : std::string(suffix);
}

std::string KeySpace::unknown_text(std::string_view path, std::string_view hidden) const {
  std::vector<std::string> all;
  const std::string word(shown(path, hidden));
  for (const auto& candidate : paths_and_tables()) {
    // The tables that contain the key are not useful suggestions.
    if (!below(path, candidate)) all.emplace_back(shown(candidate, hidden));
  }
  if (const auto twin = same_in_other_unit(word, all); !twin.empty()) {
    const auto name = twin.substr(twin.rfind('.') + 1);
    return fmt::format("unknown key; did you mean {}, in {}?", name, written_unit(unit_suffix(name)));
  }
  if (const std::string other = same_by_another_word(word, all); !other.empty())
    return fmt::format("unknown key; did you mean {}?", other);
  const auto whole = std::ranges::find_if(all, [&](const std::string& candidate) { return candidate.ends_with("." + word); });
  if (whole != all.end()) return fmt::format("unknown key; did you mean {}?", *whole);
  if (const auto near = nearest(word, all); !near.empty()) return fmt::format("unknown key; did you mean {}?", near);
  // "lok" for "workload.lock"
  std::vector<std::string> last_parts;
  for (const std::string& candidate : all) last_parts.push_back(candidate.substr(candidate.rfind('.') + 1));
  const std::string last = word.find('.') == std::string::npos ? nearest(word, last_parts) : "";
  if (const auto at = std::ranges::find(last_parts, last); !last.empty())
    return fmt::format("unknown key; did you mean {}?", all[static_cast<std::size_t>(at - last_parts.begin())]);
  return "unknown key; " + legal_text(path, hidden);
}

std::string KeySpace::table_text(std::string_view path, std::string_view hidden) const {
  const std::string text = "is a table of keys and takes no value; " + legal_text(path, hidden);
  return path == "machine" ? text + "; to choose a machine, write machine = \"NAME\" in the file, or --machine NAME" : text;
}

const KeyInfo& KeySpace::require(std::string_view path, const Origin& origin) const {
  if (const auto* key = find(path)) return *key;
  const std::string_view hidden = origin.hidden == path ? std::string_view() : origin.hidden;
  if (is_table(path)) fail(origin, path, table_text(path, hidden));
  for (const auto& key : keys_) {
    if (below(path, key.path)) fail(origin, key.path, fmt::format("expected {}, found a table", type_text(key.type)));
  }
  fail(origin, path, unknown_text(path, hidden));
}

const KeyInfo& KeySpace::require_settable(std::string_view path, const Origin& origin) const {
  const KeyInfo& key = require(path, origin);
  if (key.structural) fail(origin, path, "stands in the machine's own file and cannot be set elsewhere");
  return key;
}

void read_settings(const std::vector<Leaf>& leaves, const KeySpace& keys, Settings& settings) {
  for (const auto& leaf : leaves) {
    const bool empty_table = leaf.node->is_table();
    if (empty_table && keys.is_table(leaf.path)) continue;
    const KeyInfo& key = keys.require(leaf.path, leaf.origin);
    settings.insert_or_assign(leaf.path, Setting{checked(key, leaf), leaf.origin});
  }
}

std::vector<std::pair<std::string, std::string>> split_sets(const std::vector<std::string>& sets) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& set : sets) {
    const std::size_t equals = set.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw ConfigError("--set " + set + ": must be PATH=VALUE, such as machine.memory.latency_ns=200");
    out.emplace_back(set.substr(0, equals), set.substr(equals + 1));
  }
  return out;
}

}  // namespace linebounce::sim
