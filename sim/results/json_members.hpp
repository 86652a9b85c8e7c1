// Parses JSON documents that may come from anyone.
#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace linebounce::sim {

// Parses a document. Refuses one that is nested deeper than any results file: the library reads any depth, but writes
// recursively, which could exhaust the stack. `keep`: parser callback; returns false for a value to leave out. Errors:
// nlohmann::json::exception.
template <class Json>
Json parsed_json(std::string_view text, const typename Json::parser_callback_t& keep = {}) {
  constexpr int kDeepest = 32;
  return Json::parse(text, [&keep](int depth, typename Json::parse_event_t event, Json& value) {
    if (depth > kDeepest) throw Json::other_error::create(501, "values within values are nested too deep", &value);
    return !keep || keep(depth, event, value);
  });
}

// Like json.get_to(value), but for an integer type the document must contain an integer that fits. Errors:
// nlohmann::json::exception.
template <class Json, class T>
void take(const Json& json, T& value) {
  if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    const bool fits = json.is_number_unsigned()
                          ? std::in_range<T>(json.template get<std::uint64_t>())
                          : json.is_number_integer() && std::in_range<T>(json.template get<std::int64_t>());
    if (!fits) throw Json::type_error::create(302, "no whole number, or too large a one", &json);
  }
  json.get_to(value);
}

template <class T, class Json>
T taken(const Json& json) {
  T value{};
  take(json, value);
  return value;
}

}  // namespace linebounce::sim
