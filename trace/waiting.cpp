#include "trace/waiting.hpp"

namespace linebounce::trace {
namespace {

constexpr std::size_t kMostOperations = 32;
constexpr std::uint64_t kMostTime = 1000;  // instructions and cycles

}  // namespace

TurnOfWait::TurnOfWait(const Symbols& symbols) {
  for (const Object& object : symbols.objects) is_stack_.push_back(object.name.starts_with("stack of "));
}

void TurnOfWait::begin() {
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
  return instructions_ + cycles_ <= kMostTime;
}

}  // namespace linebounce::trace
