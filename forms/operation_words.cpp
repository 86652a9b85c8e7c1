#include "forms/operation_words.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "forms/line_words.hpp"

namespace linebounce::sim {

std::optional<AddressLine::What> read_or_write(std::string_view word) {
  constexpr std::array<std::string_view, 9> kLoads = {"r", "rd", "read", "reads", "l", "ld", "load", "loads", "prrd"};
  constexpr std::array<std::string_view, 9> kStores = {"w", "wr", "write", "writes", "s", "st", "store", "stores", "prwr"};
  constexpr std::size_t kLongest = 6;
  if (word.size() > kLongest) return std::nullopt;
  const std::string lower = lower_case(word);
  if (std::ranges::find(kLoads, lower) != kLoads.end()) return AddressLine::What::load;
  if (std::ranges::find(kStores, lower) != kStores.end()) return AddressLine::What::store;
  return std::nullopt;
}

}  // namespace linebounce::sim
