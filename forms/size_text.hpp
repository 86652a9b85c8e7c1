// Sizes of caches and memories, as lscpu, lstopo and /sys write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace linebounce::sim {

// Parses "32K", "8192KiB", "256KB", "1.3 MiB" or "65536 bytes"; K is 1,024 everywhere. Returns nothing for other texts.
std::optional<std::int64_t> bytes_of_size(std::string_view text);

}  // namespace linebounce::sim
