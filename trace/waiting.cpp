#include "trace/waiting.hpp"

namespace linebounce::trace {
namespace {

constexpr std::size_t kMostOperations = 32;
constexpr std::uint64_t kMostTime = 1000;  // instructions and cycles
constexpr std::uint64_t kTurnsForALongOne = 10;

}  // namespace

TurnOfWait::TurnOfWait(const Symbols& symbols, bool is_time_measured) : is_time_measured_(is_time_measured) {
  for (const Object& object : symbols.objects) is_stack_.push_back(object.is_stack());
}

void TurnOfWait::begin_wait() {
  begin();
  turns_ = long_turns_ = 0;
}

void TurnOfWait::begin() {
  ++turns_;
  if (takes_long()) ++long_turns_;
  operations_ = shared_loads_ = 0;
  instructions_ = cycles_ = 0;
  depth_ = 0;
}

bool TurnOfWait::may_have(const Operation& operation) {
  if (++operations_ > kMostOperations) return false;
  switch (operation.kind) {
    case Kind::execute: instructions_ += operation.argument; break;
    case Kind::compute: cycles_ += operation.argument; break;
    case Kind::load:
      if (!is_stack_[operation.id]) ++shared_loads_;
      break;
    case Kind::store: return is_stack_[operation.id];
    case Kind::enter: ++depth_; break;
    case Kind::leave: --depth_; break;
    case Kind::prefetch:
    case Kind::fence:
    case Kind::clock:
    case Kind::blocked: break;
    default: return false;
  }
  return is_time_measured_ || !takes_long();
}

bool TurnOfWait::takes_long() const {
  return instructions_ + cycles_ > kMostTime;
}

bool TurnOfWait::is_mostly_short() const {
  const std::uint64_t long_turns = long_turns_ + (takes_long() ? 1 : 0);
  return kTurnsForALongOne * long_turns <= turns_;
}

}  // namespace linebounce::trace
