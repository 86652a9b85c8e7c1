// Parses a decimal integer.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace linebounce {

// Returns the number if the whole text is a number from `least` to `most`; else nothing.
inline std::optional<std::int64_t> whole_number(std::string_view text, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) return std::nullopt;
  return value;
}

}  // namespace linebounce
