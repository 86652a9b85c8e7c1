// The one unit that compiles the parser itself (CMakeLists.txt sets TOML_HEADER_ONLY=0). toml++ 3.3 asserts that a table's
// header begins with a key, and only where assertions are off goes on to report that it doesn't ("[=]"). So they are off in
// every build.
#undef NDEBUG
#define TOML_ASSERT(expr) static_cast<void>(0)
#define TOML_IMPLEMENTATION
#include "sim/config/toml_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include "sim/config/toml_depth.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

std::string float_text(double value) {
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  // TOML tells a float from an integer by the point or the exponent.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string string_text(const std::string& value) {
  const auto flags = toml::toml_formatter::default_flags &
                     ~(toml::format_flags::allow_literal_strings | toml::format_flags::allow_multi_line_strings);
  std::ostringstream out;
  const toml::value<std::string> node{value};
  out << toml::toml_formatter{node, flags};
  return out.str();
}

std::string key_text(std::string_view key) {
  const auto bare = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  if (!key.empty() && std::all_of(key.begin(), key.end(), bare)) return std::string(key);
  return string_text(std::string(key));
}

bool holds_tables(const toml::node& node) {
  const auto* array = node.as_array();
  return array && !array->empty() && array->get(0)->is_table();
}

std::string value_text(const toml::node& node);

std::string inline_table_text(const toml::table& table) {
  std::string text;
  for (const auto& [key, value] : table) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", key_text(key.str()), value_text(value));
  }
  return text.empty() ? "{}" : "{ " + text + " }";
}

std::string array_text(const toml::array& array) {
  std::string text;
  for (const auto& element : array) text += (text.empty() ? "" : ", ") + value_text(element);
  return "[" + text + "]";
}

std::string value_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return string_text(text->get());
  if (const auto* number = node.as_floating_point()) return float_text(number->get());
  if (const auto* integer = node.as_integer()) return std::to_string(integer->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* array = node.as_array()) return array_text(*array);
  return inline_table_text(*node.as_table());
}

void write_table(std::string& out, const toml::table& table, const std::string& path) {
  for (const auto& [key, value] : table) {
    if (value.is_table() || holds_tables(value)) continue;
    out += fmt::format("{} = {}\n", key_text(key.str()), value_text(value));
  }
  for (const auto& [key, value] : table) {
    const std::string below = path + (path.empty() ? "" : ".") + key_text(key.str());
    if (const auto* inner = value.as_table()) {
      out += fmt::format("\n[{}]\n", below);
      write_table(out, *inner, below);
    } else if (holds_tables(value)) {
      for (const auto& element : *value.as_array()) {
        out += fmt::format("\n[[{}]]\n", below);
        // Tables below an element stay on its lines: a reader sees a row as one block.
        for (const auto& [name, field] : *element.as_table())
          out += fmt::format("{} = {}\n", key_text(name.str()), value_text(field));
      }
    }
  }
}

}  // namespace

toml::table parse_toml(const std::string& text, const std::string& file) {
  if (text.find('\0') != std::string::npos) throw ConfigError(fmt::format("{}: this is a binary file, not TOML text", file));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) throw ConfigError(fmt::format("{}: the file is empty", file));
  check_depth(text, file);
  try {
    return toml::parse(std::string_view(text), std::string_view(file));
  } catch (const toml::parse_error& error) {
    throw ConfigError(fmt::format("{}: not valid TOML: {}", place_of(file, error.source()), error.description()));
  }
}

std::string to_toml(const toml::table& table) {
  std::string out;
  write_table(out, table, "");
  return out;
}

std::string place_of(const std::string& file, const toml::source_region& source) {
  if (!source.begin) return file;
  return fmt::format("{}:{}:{}", source.path ? *source.path : file, source.begin.line, source.begin.column);
}

std::filesystem::path file_of(const std::string& file, const toml::node& node) {
  return node.source().path ? *node.source().path : file;
}

std::string describe_node(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string: return "a string (" + value_text(node) + ")";
    case toml::node_type::integer: return "an integer (" + value_text(node) + ")";
    case toml::node_type::floating_point: return "a float (" + value_text(node) + ")";
    case toml::node_type::boolean: return "a boolean (" + value_text(node) + ")";
    case toml::node_type::array: return "an array";
    case toml::node_type::table: return "a table";
    default: return "a date or time";
  }
}

}  // namespace linebounce::sim
