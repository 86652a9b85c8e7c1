// Boost.Context's fiber on top of emscripten's, as far as the models and the lock checker use it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace boost::context {

namespace detail {
// Thrown in a fiber that is destroyed before it ends.
struct forced_unwind {};
}  // namespace detail

struct fixedsize_stack {
  explicit fixedsize_stack(std::size_t) {}
};

class fiber {
 public:
  fiber() = default;
  template <typename Function, typename = std::enable_if_t<!std::is_same_v<std::decay_t<Function>, fiber>>>
  explicit fiber(Function&& function) : state_(make(share(std::forward<Function>(function)))) {}
  template <typename Function>
  fiber(std::allocator_arg_t, const fixedsize_stack&, Function&& function) : fiber(std::forward<Function>(function)) {}
  fiber(fiber&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  fiber& operator=(fiber&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~fiber();
  fiber resume() &&;
  explicit operator bool() const { return state_ != nullptr; }

 private:
  struct State;
  explicit fiber(State* state) : state_(state) {}
  // Makes a copyable function from one that can't be copied.
  template <typename Function>
  static std::function<fiber(fiber&&)> share(Function&& function) {
    auto shared = std::make_shared<std::decay_t<Function>>(std::forward<Function>(function));
    return [shared](fiber&& from) { return (*shared)(std::move(from)); };
  }
  static State* make(std::function<fiber(fiber&&)> run);
  static void entry(void* argument);
  static void switch_to(State& from, State& to);

  static State* current;   // null: the context is not a fiber of ours
  static State* previous;  // the fiber that resumed the current one; null after it has ended

  State* state_ = nullptr;
};

}  // namespace boost::context
