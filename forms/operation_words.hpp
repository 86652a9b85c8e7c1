// How text traces name operations: "r", "St" or "PrRd".
#pragma once

#include <optional>
#include <string_view>

#include "forms/address_lines.hpp"

namespace linebounce::sim {

// Parses "r", "w" and their variants, in any case; returns nothing for any other word.
std::optional<AddressLine::What> read_or_write(std::string_view word);

}  // namespace linebounce::sim
