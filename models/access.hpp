// The right that an access to a line needs: to read only, or to read and write.
#pragma once

#include <cstdint>

namespace linebounce {

enum Access : std::uint8_t { kReadAccess = 0, kWriteAccess = 1 };

}  // namespace linebounce
