// Sizes of C and C++ types that are not structures, by their names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace linebounce::types {

enum class Abi : std::uint8_t { unix64, windows64, any32 };  // any32: of any system with pointers of 32 bits

// In bytes; none where systems of the ABI differ, and for enumerations, structures, and typedefs other than the C library's and
// Linux's usual ones.
std::optional<std::int64_t> c_size(std::string_view type, Abi abi);

}  // namespace linebounce::types
