// One event of a recorded thread, as record/runtime/channel.h describes them.
#pragma once

#include <array>
#include <cstdint>

#include "record/runtime/channel.h"

namespace linebounce::record {

struct Event {
  unsigned kind = kNoEvent;
  unsigned detail = 0;
  std::uint64_t value = 0;
  std::array<std::uint64_t, 2 + kMostFrames> more{};
};

// Words behind the first.
constexpr unsigned words_behind(unsigned kind, unsigned detail) {
  switch (kind) {
    case kEnterAt:
    case kLoadRange:
    case kStoreRange:
    case kCreate:
    case kConditionWait:
    case kConditionWoken:
    case kSemaphoreInit:
    case kBarrierInit: return 1;
    case kThreadBegin: return 3;
    case kAllocate: return 2 + (detail & kReturnAddresses);
    default: return 0;
  }
}

}  // namespace linebounce::record
