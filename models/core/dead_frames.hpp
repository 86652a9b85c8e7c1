// AddressSanitizer marks what a stack's functions leave free and clears the marks where they return. An exception that unwinds
// a fiber leaves them, as the sanitizer doesn't know where that stack begins, and takes the next frames for errors.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>

#include <cstddef>
#endif

namespace linebounce {

// REQUIRES: called in the catch block of a fiber's first function. Does nothing without the sanitizer.
inline void forget_dead_frames() {
#if defined(__SANITIZE_ADDRESS__)
  constexpr std::size_t kDeepest = 48 << 10;
  char* const here = static_cast<char*>(__builtin_frame_address(0));
  __asan_unpoison_memory_region(here - kDeepest, kDeepest);
#endif
}

}  // namespace linebounce
