// Stacks of fibers, each with a guard page. When a fiber ends, the thread's next fiber reuses its stack. A new stack costs
// system calls and page faults, which are a large part of a short simulation, or of one interleaving of a lock.
#pragma once

#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstddef>

#ifndef __EMSCRIPTEN__
#include <vector>

#include "models/core/fiber_switch.hpp"
#endif

namespace linebounce {

#ifdef __EMSCRIPTEN__
template <std::size_t kBytes>
class ReusedStack : public boost::context::protected_fixedsize_stack {
 public:
  ReusedStack() : boost::context::protected_fixedsize_stack(kBytes) {}
};
#else
template <std::size_t kBytes>
class ReusedStack {
 public:
  boost::context::stack_context allocate() {
    std::vector<boost::context::stack_context>& free = unused().stacks;
    if (free.empty()) return boost::context::protected_fixedsize_stack(kBytes).allocate();
    const boost::context::stack_context stack = free.back();
    free.pop_back();
    forget_poison(stack);
    return stack;
  }
  void deallocate(boost::context::stack_context& stack) noexcept {
    std::vector<boost::context::stack_context>& free = unused().stacks;
    if (free.size() == kMostUnused) return boost::context::protected_fixedsize_stack(kBytes).deallocate(stack);
    free.push_back(stack);
  }

 private:
  static constexpr std::size_t kMostUnused = 64;  // for each thread

  struct Unused {
    Unused() { stacks.reserve(kMostUnused); }
    Unused(const Unused&) = delete;
    Unused& operator=(const Unused&) = delete;
    ~Unused() {
      for (boost::context::stack_context& stack : stacks) boost::context::protected_fixedsize_stack(kBytes).deallocate(stack);
    }
    std::vector<boost::context::stack_context> stacks;
  };
  static Unused& unused() {
    thread_local Unused stacks;
    return stacks;
  }

  // Clears the marks that AddressSanitizer keeps for frames that an exception has unwound.
  static void forget_poison([[maybe_unused]] const boost::context::stack_context& stack) {
#ifdef LINEBOUNCE_ADDRESS_SANITIZER
    __asan_unpoison_memory_region(static_cast<const char*>(stack.sp) - stack.size, stack.size);
#endif
  }
};
#endif

}  // namespace linebounce
