// Fibers that AddressSanitizer understands. It takes the thread's stack for the only one, so that an exception in a fiber would
// leave the marks of frames that it has unwound, and the next frames there would be taken for errors. Here each fiber tells it
// which stack is in use. Without the sanitizer, nothing is left of that.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <utility>

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
#include <sanitizer/common_interface_defs.h>

#include <cstdint>
#endif

namespace linebounce {

#ifdef LINEBOUNCE_ADDRESS_SANITIZER

struct StackBounds {
  const void* bottom = nullptr;
  std::size_t bytes = 0;
};

// Returns what it took for the stack until now. Without bounds, it leaves all marks as they are.
inline StackBounds tell_sanitizer(const StackBounds& stack) {
  StackBounds before;
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, stack.bottom, stack.bytes);
  __sanitizer_finish_switch_fiber(fake, &before.bottom, &before.bytes);
  return before;
}

// Of whoever destroys a fiber, while it is unwound. No member of anything: the fiber's last frame hands it to no one.
inline thread_local StackBounds destroyer_stack;

// First of all in a fiber. `bytes` is the size of its stack, of which a page may be used already.
class FiberScope {
 public:
  explicit FiberScope(std::size_t bytes) {
    constexpr std::uintptr_t kPage = 4096;
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const std::uintptr_t top = (here / kPage + 1) * kPage;
    tell_sanitizer({reinterpret_cast<const void*>(top - bytes), bytes});
  }
  ~FiberScope() {
    if (destroyer_stack.bytes > 0) tell_sanitizer(std::exchange(destroyer_stack, {}));
  }
  FiberScope(const FiberScope&) = delete;
  FiberScope& operator=(const FiberScope&) = delete;
};

// As fiber.resume(). Whoever destroys a fiber unwinds it by an exception that begins in here.
inline boost::context::fiber resume_fiber(boost::context::fiber&& fiber) {
  class ResumedFiber {
   public:
    ResumedFiber() : mine_(tell_sanitizer({})) {}
    ~ResumedFiber() {
      // The frames between here and the exception's throw.
      constexpr std::size_t kThrowing = 4096;
      __asan_unpoison_memory_region(static_cast<const char*>(__builtin_frame_address(0)) - kThrowing, kThrowing);
      if (const StackBounds before = tell_sanitizer(mine_); before.bytes > 0) destroyer_stack = before;
    }
    ResumedFiber(const ResumedFiber&) = delete;
    ResumedFiber& operator=(const ResumedFiber&) = delete;

   private:
    StackBounds mine_;
  };
  const ResumedFiber resumed;
  return std::move(fiber).resume();
}

#else

struct [[maybe_unused]] FiberScope {
  explicit FiberScope(std::size_t) {}
};

inline boost::context::fiber resume_fiber(boost::context::fiber&& fiber) {
  return std::move(fiber).resume();
}

#endif

}  // namespace linebounce
