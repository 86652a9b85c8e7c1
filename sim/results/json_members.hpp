// Values of JSON documents that may be a stranger's.
#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

namespace linebounce::sim {

// As json.get_to(value), which makes an integer of any number, though: here it must be one, and fit. Errors:
// nlohmann::json::exception.
template <class T>
void take(const nlohmann::json& json, T& value) {
  if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                                : json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
    if (!fits) throw nlohmann::json::type_error::create(302, "no whole number, or too large a one", &json);
  }
  json.get_to(value);
}

template <class T>
T taken(const nlohmann::json& json) {
  T value{};
  take(json, value);
  return value;
}

}  // namespace linebounce::sim
