#include "trace/symbol_json.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "trace/symbol_fields.hpp"

namespace linebounce::trace {
namespace {

using nlohmann::ordered_json;

template <class T>
ordered_json to_json(const T& value);

template <class T>
ordered_json list_json(const std::vector<T>& values) {
  ordered_json list = ordered_json::array();
  for (const T& value : values) list.push_back(to_json(value));
  return list;
}
ordered_json value_json(const std::vector<Field>& fields) {
  return list_json(fields);
}
ordered_json value_json(const std::vector<WaitsIn>& waits_in) {
  return list_json(waits_in);
}
template <class T>
ordered_json value_json(const std::optional<T>& value) {
  return *value;  // an absent member keeps its default
}
template <class T>
ordered_json value_json(const T& value) {
  return value;
}

template <class T>
ordered_json to_json(const T& value) {
  const T defaults;
  ordered_json object = ordered_json::object();
  for_each_member<T>([&](const auto& member) {
    if (value.*member.at != defaults.*member.at) object[std::string(member.key)] = value_json(value.*member.at);
  });
  return object;
}

std::string text_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

// A value for a message. Lists and objects are only named, because they may be large.
std::string short_text(const ordered_json& json) {
  if (json.is_structured()) return json.is_array() ? "a list" : "an object";
  std::string text = text_of(json);
  std::size_t most = 40;
  if (text.size() <= most) return text;
  while (most > 0 && (text[most] & 0xC0) == 0x80) --most;  // does not cut a UTF-8 character in half
  return text.substr(0, most) + "...";
}

[[noreturn]] void wrong_type(std::string_view key, const ordered_json& json, std::string_view expected) {
  const std::string found = short_text(json);
  throw FormatError(fmt::format("{:?} is {}; it has to be {}", key, found, expected));
}

template <class T>
void from_json(const ordered_json& json, T& value, std::initializer_list<std::string_view> others = {});

void read_value(std::string_view key, const ordered_json& json, std::string& value) {
  if (!json.is_string()) wrong_type(key, json, "a string");
  value = json.get<std::string>();
}
void read_value(std::string_view key, const ordered_json& json, bool& value) {
  if (!json.is_boolean()) wrong_type(key, json, "true or false");
  value = json.get<bool>();
}
template <class T>
requires std::is_integral_v<T>
void read_value(std::string_view key, const ordered_json& json, T& value) {
  using Limits = std::numeric_limits<T>;
  const bool fits = json.is_number_unsigned()  ? std::in_range<T>(json.get<std::uint64_t>())
                    : json.is_number_integer() ? std::in_range<T>(json.get<std::int64_t>())
                                               : false;
  if (!fits) wrong_type(key, json, fmt::format("an integer from {} to {}", Limits::min(), Limits::max()));
  value = json.get<T>();
}
template <class T>
void read_value(std::string_view key, const ordered_json& json, std::optional<T>& value) {
  read_value(key, json, value.emplace());
}
template <class T>
void read_value(std::string_view key, const ordered_json& json, std::vector<T>& values) {
  if (!json.is_array()) wrong_type(key, json, "a list");
  for (const ordered_json& each : json) {
    if constexpr (std::is_same_v<T, Field> || std::is_same_v<T, WaitsIn>) {
      from_json(each, values.emplace_back());
    } else {
      read_value(key, each, values.emplace_back());
    }
  }
}
void read_value(std::string_view key, const ordered_json& json, std::map<std::string, std::int64_t>& values) {
  if (!json.is_object()) wrong_type(key, json, "an object");
  for (const auto& [name, count] : json.items()) {
    read_value(name, count, values[name]);
    if (values[name] < 0) wrong_type(name, count, "an integer from 0 to 2^63 - 1");
  }
}

// `others`: legal keys that the caller reads itself.
template <class T>
void from_json(const ordered_json& json, T& value, std::initializer_list<std::string_view> others) {
  if (!json.is_object()) wrong_type("line", json, "a JSON object");
  std::vector<std::string_view> known = others;
  for_each_member<T>([&](const auto& member) {
    known.push_back(member.key);
    const auto found = json.find(member.key);
    if (found != json.end()) read_value(member.key, *found, value.*member.at);
  });
  for (const auto& [key, unused] : json.items()) {
    if (std::ranges::find(known, key) == known.end()) {
      throw FormatError(fmt::format("{:?} is not known; known are {}", key, fmt::join(known, ", ")));
    }
  }
}

constexpr int kDeepest = 8;  // nested lists and objects; no legal member is deeper than a list of objects

// Refuses deep nesting. Parsing uses no stack for it, but functions that walk through the result would.
ordered_json parsed(std::string_view text) {
  // The parser would take this byte for the end of the text.
  if (text.find('\0') != std::string_view::npos) throw FormatError("this is not JSON: it has a byte 0");
  const auto refuse_deep = [](int depth, ordered_json::parse_event_t, const ordered_json&) {
    if (depth > kDeepest) throw FormatError(fmt::format("lists and objects are nested more than {} deep", kDeepest));
    return true;
  };
  ordered_json json = ordered_json::parse(text, refuse_deep, false);
  if (!json.is_object()) throw FormatError("this is not a JSON object");
  return json;
}

std::string line_of(std::string_view kind, const ordered_json& members, std::optional<std::uint32_t> redefines = {}) {
  ordered_json line = {{"kind", kind}};
  if (redefines) line["redefines"] = *redefines;
  line.update(members);
  return text_of(line);
}

template <std::size_t kIndex = 0>
Symbol symbol_from(const ordered_json& json, std::string_view kind) {
  if constexpr (kIndex == std::variant_size_v<Symbol>) {
    throw FormatError(fmt::format("\"kind\" is {:?}; legal are {}", kind, fmt::join(kSymbolKinds, ", ")));
  } else {
    if (kind != kSymbolKinds[kIndex]) return symbol_from<kIndex + 1>(json, kind);
    std::variant_alternative_t<kIndex, Symbol> symbol;
    if (kind == "lock") {
      from_json(json, symbol, {"kind", "redefines"});
    } else {
      from_json(json, symbol, {"kind"});
    }
    return symbol;
  }
}

}  // namespace

std::string symbol_line(const Symbol& symbol) {
  return std::visit([&symbol](const auto& it) { return line_of(kSymbolKinds[symbol.index()], to_json(it)); }, symbol);
}

std::string redefinition_line(std::uint32_t lock, const Lock& facts) {
  return line_of("lock", to_json(facts), lock);
}

std::string summary_text(const Summary& summary) {
  return text_of(to_json(summary));
}

void define_line(Symbols& symbols, std::string_view line) {
  const ordered_json json = parsed(line);
  std::string kind;
  if (const auto found = json.find("kind"); found != json.end()) read_value("kind", *found, kind);
  const Symbol symbol = symbol_from(json, kind);
  if (const std::string wrong = complaint(symbols, symbol); !wrong.empty()) throw FormatError(wrong);
  const auto redefines = json.find("redefines");
  if (redefines == json.end()) {
    symbols.define(symbol);
    return;
  }
  std::uint32_t lock = 0;
  read_value("redefines", *redefines, lock);
  if (lock >= symbols.locks.size()) throw FormatError(fmt::format("\"redefines\" is {}, which is not a lock", lock));
  symbols.locks[lock] = std::get<Lock>(symbol);
}

Summary read_summary(std::string_view text) {
  Summary summary;
  from_json(parsed(text), summary);
  return summary;
}

}  // namespace linebounce::trace
