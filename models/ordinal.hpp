// Converts enumerators to table indices.
#pragma once

#include <cstddef>
#include <type_traits>

namespace linebounce {

template <class Enum>
constexpr std::size_t ordinal(Enum value) {
  static_assert(std::is_enum_v<Enum>);
  return static_cast<std::size_t>(value);
}

}  // namespace linebounce
