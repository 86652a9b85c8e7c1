#include "litmus/final_condition.hpp"

namespace linebounce::sim::litmus {

std::optional<bool> Condition::holds(const Values& values) const {
  switch (kind) {
    case Kind::always: return true;
    case Kind::term: {
      const auto found = values(place), wanted = other ? values(*other) : std::optional(value);
      return found && wanted ? std::optional(*found == *wanted) : std::nullopt;
    }
    case Kind::none: {
      const auto held = parts.front().holds(values);
      return held ? std::optional(!*held) : std::nullopt;
    }
    default: break;
  }
  const bool decisive = kind == Kind::any;  // one such part decides
  bool is_open = false;
  for (const Condition& part : parts) {
    const auto held = part.holds(values);
    if (held == decisive) return decisive;
    is_open = is_open || !held;
  }
  return is_open ? std::nullopt : std::optional(!decisive);
}

void Condition::places(const std::function<void(const Place&)>& visit) const {
  if (kind == Kind::term) {
    visit(place);
    if (other) visit(*other);
  }
  for (const Condition& part : parts) part.places(visit);
}

Condition Condition::negated(Condition condition) {
  Condition result;
  result.kind = Kind::none;
  result.parts.push_back(std::move(condition));
  return result;
}

Condition Condition::joined(Kind kind, Condition left, Condition right) {
  // A chain such as "a /\ b /\ c" stays flat.
  if (left.kind == kind) {
    left.parts.push_back(std::move(right));
    return left;
  }
  Condition result;
  result.kind = kind;
  result.parts.push_back(std::move(left));
  result.parts.push_back(std::move(right));
  return result;
}

}  // namespace linebounce::sim::litmus
