// AddressSanitizer marks what a stack's functions leave free and clears the marks where they return. An exception that unwinds
// a fiber leaves them, as the sanitizer doesn't know where that stack begins, and takes the next frames for errors.
#pragma once

#if defined(__has_feature)
#define LINEBOUNCE_CLANG_HAS(feature) __has_feature(feature)
#else
#define LINEBOUNCE_CLANG_HAS(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || LINEBOUNCE_CLANG_HAS(address_sanitizer)
#define LINEBOUNCE_ADDRESS_SANITIZER
#endif

#ifdef LINEBOUNCE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>

#include <cstddef>
#endif

namespace linebounce {

// REQUIRES: called where an exception is on its way out of a fiber. Does nothing without the sanitizer.
inline void forget_dead_frames() {
#ifdef LINEBOUNCE_ADDRESS_SANITIZER
  // Deeper frames than those of a program and a machine in its middle are not met; what is marked beyond is another mapping's.
  constexpr std::size_t kDeepest = 48 << 10;
  char* const here = static_cast<char*>(__builtin_frame_address(0));
  __asan_unpoison_memory_region(here - kDeepest, kDeepest);
#endif
}

// For a function on a fiber that an exception may leave.
struct ForgetsDeadFrames {
  ForgetsDeadFrames() = default;
  ~ForgetsDeadFrames() { forget_dead_frames(); }
  ForgetsDeadFrames(const ForgetsDeadFrames&) = delete;
  ForgetsDeadFrames& operator=(const ForgetsDeadFrames&) = delete;
};

}  // namespace linebounce
