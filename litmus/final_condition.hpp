// The proposition that ends a litmus test: "(0:EAX=0 /\ (x=1 \/ not (1:EBX=2)))".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace linebounce::sim::litmus {

using Word = std::int64_t;

// A register of a thread, or a variable (thread -1).
struct Place {
  int thread = -1;
  int number = 0;
  auto operator<=>(const Place&) const = default;
};

struct Condition {
  enum class Kind : std::uint8_t { always, term, all, any, none };  // none: the negation of its only part
  Kind kind = Kind::always;
  std::vector<Condition> parts;
  Place place;                      // of a term
  Word value = 0;                   // of a term: the place holds it
  std::optional<Place> other = {};  // of a term: the place holds what this one does, instead

  // What is at a place; nothing if that is not known yet.
  using Values = std::function<std::optional<Word>(const Place&)>;
  // True or false as soon as what is known decides it.
  [[nodiscard]] std::optional<bool> holds(const Values& values) const;
  // Calls `visit` with each place that it mentions.
  void places(const std::function<void(const Place&)>& visit) const;

  static Condition negated(Condition condition);
  static Condition joined(Kind kind, Condition left, Condition right);  // `kind`: all or any
};

}  // namespace linebounce::sim::litmus
