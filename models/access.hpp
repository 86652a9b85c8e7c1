// What a cache is asked for: a copy that may be read, or one that may be written too.
#pragma once

#include <cstdint>

namespace linebounce {

enum Access : std::uint8_t { kReadAccess = 0, kWriteAccess = 1 };

}  // namespace linebounce
