#include <emscripten/fiber.h>

#include <boost/context/fiber.hpp>
#include <cstdlib>
#include <vector>

namespace boost::context {
namespace {

constexpr std::size_t kStack = 96 * 1024;
constexpr std::size_t kAsync = 32 * 1024;  // bytes into which a fiber's stack is unwound while the fiber does not run

// A lock search makes a fiber for each CPU and schedule, so their memory is reused.
template <std::size_t Bytes>
class Pool {
 public:
  char* take() {
    if (free_.empty()) return new char[Bytes];
    char* const memory = free_.back();
    free_.pop_back();
    return memory;
  }
  void give(char* memory) { free_.push_back(memory); }

 private:
  std::vector<char*> free_;
};

Pool<kStack> stacks;
Pool<kAsync> unwound;

}  // namespace

struct fiber::State {
  emscripten_fiber_t self{};
  char* stack = nullptr;  // null: the host's stack, which already existed
  char* asyncify = unwound.take();
  std::function<fiber(fiber&&)> run;
  bool started = false;
  State* unwind_to = nullptr;
  ~State() {
    unwound.give(asyncify);
    if (stack != nullptr) stacks.give(stack);
  }
  void init_host() { emscripten_fiber_init_from_current_context(&self, asyncify, kAsync); }
};

fiber::State* fiber::current = nullptr;
fiber::State* fiber::previous = nullptr;

namespace {
// The fiber that has just ended: freed by the next one, because it can't free the stack that it runs on.
void* ended = nullptr;
}  // namespace

fiber::State* fiber::make(std::function<fiber(fiber&&)> run) {
  auto* state = new State;
  state->run = std::move(run);
  state->stack = stacks.take();
  emscripten_fiber_init(&state->self, entry, state, state->stack, kStack, state->asyncify, kAsync);
  return state;
}

void fiber::switch_to(State& from, State& to) {
  State* const me = current;
  current = to.stack != nullptr ? &to : nullptr;
  to.started = true;
  emscripten_fiber_swap(&from.self, &to.self);
  current = me;
  if (ended != nullptr) delete static_cast<State*>(std::exchange(ended, nullptr));
}

fiber fiber::resume() && {
  State* const to = std::exchange(state_, nullptr);
  State host;  // this is on the waiting fiber's stack
  State* const from = current != nullptr ? current : &host;
  if (from == &host) host.init_host();
  previous = from;
  switch_to(*from, *to);
  if (from->unwind_to != nullptr) throw detail::forced_unwind();
  return fiber(std::exchange(previous, nullptr));
}

fiber::~fiber() {
  if (state_ == nullptr || state_->stack == nullptr) return;
  if (!state_->started) {
    delete state_;
    return;
  }
  State host;
  State* const from = current != nullptr ? current : &host;
  if (from == &host) host.init_host();
  state_->unwind_to = from;
  switch_to(*from, *state_);
}

void fiber::entry(void* argument) {
  auto* const self = static_cast<State*>(argument);
  State* to = nullptr;
  try {
    fiber back = self->run(fiber(std::exchange(previous, nullptr)));
    to = std::exchange(back.state_, nullptr);
  } catch (const detail::forced_unwind&) {
    to = self->unwind_to;
  }
  previous = nullptr;
  ended = self;
  switch_to(*self, *to);
  std::abort();
}

}  // namespace boost::context
