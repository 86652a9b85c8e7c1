// Unpacks what zlib has packed (RFC 1950 and 1951), for files of other tools that hold such pieces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace linebounce::sim {

// `size`: the number of unpacked bytes, which the caller knows. Errors: std::runtime_error with what is damaged, also if the
// piece has another size or its checksum differs.
std::string inflated(std::string_view packed, std::uint64_t size);

}  // namespace linebounce::sim
