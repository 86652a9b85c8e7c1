// The right that an access needs: to read a copy, or to write it as well.
#pragma once

#include <cstdint>

namespace linebounce {

enum Access : std::uint8_t { kReadAccess = 0, kWriteAccess = 1 };

}  // namespace linebounce
