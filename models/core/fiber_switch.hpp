// Fiber switches that tell AddressSanitizer and ThreadSanitizer which stack is in use. On their own, both only know the OS
// thread's stack. After an exception in a fiber, AddressSanitizer would keep the unwound frames marked as poisoned, and
// report errors in later frames at the same addresses. ThreadSanitizer would miscount open frames. In builds without a
// sanitizer these are plain fiber switches.
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
#if defined(__SANITIZE_THREAD__) || LINEBOUNCE_CLANG_HAS(thread_sanitizer)
#define LINEBOUNCE_THREAD_SANITIZER
#endif

#ifdef LINEBOUNCE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

#include <cstdint>
#endif
#ifdef LINEBOUNCE_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace linebounce {

#ifdef LINEBOUNCE_ADDRESS_SANITIZER

struct StackBounds {
  const void* bottom = nullptr;
  std::size_t bytes = 0;
};

// Tells the sanitizer that `stack` is in use from now on, and returns the bounds of the stack in use before. If `stack` is
// empty, the sanitizer does not clear any poison marks.
inline StackBounds tell_sanitizer(const StackBounds& stack) {
  StackBounds before;
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, stack.bottom, stack.bytes);
  __sanitizer_finish_switch_fiber(fake, &before.bottom, &before.bytes);
  return before;
}

// While a fiber unwinds: the stack of the code that destroys it. Global, because the fiber's last frame takes no arguments.
inline thread_local StackBounds stack_after_unwinding;

// Tells the sanitizer the bounds of a fiber's stack. REQUIRES: this is the first object in the fiber, and the fiber's stack has
// `bytes` bytes and at most one page in use.
class FiberScope {
 public:
  explicit FiberScope(std::size_t bytes) {
    constexpr std::uintptr_t kPage = 4096;
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const std::uintptr_t top = (here / kPage + 1) * kPage;
    tell_sanitizer({reinterpret_cast<const void*>(top - bytes), bytes});
  }
  ~FiberScope() {
    if (stack_after_unwinding.bytes > 0) tell_sanitizer(std::exchange(stack_after_unwinding, {}));
  }
  FiberScope(const FiberScope&) = delete;
  FiberScope& operator=(const FiberScope&) = delete;
};

// Like fiber.resume(). If the calling fiber is destroyed while it waits here, an exception thrown here unwinds its stack.
inline boost::context::fiber resume_fiber(boost::context::fiber&& fiber) {
  class ResumedFiber {
   public:
    ResumedFiber() : mine_(tell_sanitizer({})) {}
    ~ResumedFiber() {
      // A limit in bytes: all frames between this one and the throw lie within it.
      constexpr std::size_t kThrowing = 4096;
      __asan_unpoison_memory_region(static_cast<const char*>(__builtin_frame_address(0)) - kThrowing, kThrowing);
      if (const StackBounds before = tell_sanitizer(mine_); before.bytes > 0) stack_after_unwinding = before;
    }
    ResumedFiber(const ResumedFiber&) = delete;
    ResumedFiber& operator=(const ResumedFiber&) = delete;

   private:
    StackBounds mine_;
  };
  const ResumedFiber resumed;
  return std::move(fiber).resume();
}

#elif defined(LINEBOUNCE_THREAD_SANITIZER)

// Only the fiber that runs next on a stack tells the sanitizer about the switch. Boost's last frames on the old stack thus
// run while the sanitizer takes another stack to be in use. The preset `tsan` compiles without the calls by which the
// sanitizer would count these frames.

// The sanitizer's record of a fiber that has returned. A record can't be destroyed while it is in use.
inline thread_local void* ended_fiber = nullptr;
// While a fiber unwinds: the record of the code that destroys it. Global, because the fiber's last frame takes no arguments.
inline thread_local void* fiber_after_unwinding = nullptr;

// Makes the sanitizer's record of a fiber. REQUIRES: this is the first object in the fiber.
class FiberScope {
 public:
  explicit FiberScope(std::size_t) : mine_(__tsan_create_fiber(0)) { __tsan_switch_to_fiber(mine_, 0); }
  ~FiberScope() {
    if (fiber_after_unwinding == nullptr) {
      ended_fiber = mine_;
    } else {
      __tsan_switch_to_fiber(std::exchange(fiber_after_unwinding, nullptr), 0);
      __tsan_destroy_fiber(mine_);
    }
  }
  FiberScope(const FiberScope&) = delete;
  FiberScope& operator=(const FiberScope&) = delete;

 private:
  void* mine_;
};

// Like fiber.resume(). If the calling fiber is destroyed while it waits here, an exception thrown here unwinds its stack.
inline boost::context::fiber resume_fiber(boost::context::fiber&& fiber) {
  void* const mine = __tsan_get_current_fiber();
  try {
    boost::context::fiber from = std::move(fiber).resume();
    __tsan_switch_to_fiber(mine, 0);
    if (ended_fiber != nullptr) __tsan_destroy_fiber(std::exchange(ended_fiber, nullptr));
    return from;
  } catch (const boost::context::detail::forced_unwind&) {
    fiber_after_unwinding = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(mine, 0);
    throw;
  }
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
