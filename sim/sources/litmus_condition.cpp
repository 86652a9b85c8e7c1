#include "sim/sources/litmus_condition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "sim/sources/line_file.hpp"
#include "sim/sources/litmus_builder.hpp"

namespace linebounce::sim {
namespace {

using Terms = std::vector<ConditionTerm>;
using Alternatives = std::vector<Terms>;

constexpr std::size_t kMostAlternatives = 64;
constexpr int kDeepestCondition = 64;

// Reads an expression and brings it into disjunctive form. A negation is moved to the terms while they are read.
class ConditionParser {
 public:
  explicit ConditionParser(std::string_view text) : rest_(text) {}

  LitmusCondition parse() {
    LitmusCondition condition;
    if (!taken("exists")) {
      condition.is_for_all = taken("forall");
      if (!condition.is_for_all && (!taken("~") || !taken("exists"))) wanted("exists, ~exists or forall");
    }
    condition.alternatives = any(condition.is_for_all);
    if (!skipped().empty()) wanted("/\\ or \\/");
    return condition;
  }

 private:
  std::string_view skipped() { return rest_ = stripped(rest_); }

  bool taken(std::string_view word) {
    if (!skipped().starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  [[noreturn]] void wanted(std::string_view what) {
    throw std::invalid_argument(fmt::format("expected {} in the condition, before \"{}\"", what, skipped().substr(0, 30)));
  }

  static Alternatives either(Alternatives a, const Alternatives& b) {
    require_few(a.size() + b.size());
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  static Alternatives both(const Alternatives& a, const Alternatives& b) {
    require_few(a.size() * b.size());
    Alternatives all;
    for (const Terms& one : a) {
      for (const Terms& other : b) {
        all.push_back(one);
        all.back().insert(all.back().end(), other.begin(), other.end());
      }
    }
    return all;
  }

  static void require_few(std::size_t alternatives) {
    if (alternatives > kMostAlternatives)
      throw std::invalid_argument(fmt::format("the condition has more than {} alternatives", kMostAlternatives));
  }

  Alternatives any(bool negated) {
    Alternatives found = every(negated);
    while (taken("\\/")) {
      const Alternatives next = every(negated);
      found = negated ? both(found, next) : either(std::move(found), next);
    }
    return found;
  }

  Alternatives every(bool negated) {
    Alternatives found = one(negated);
    while (taken("/\\")) {
      const Alternatives next = one(negated);
      found = negated ? either(std::move(found), next) : both(found, next);
    }
    return found;
  }

  Alternatives one(bool negated) {
    if (++depth_ > kDeepestCondition) throw std::invalid_argument("the condition is nested too deeply");
    Alternatives found;
    if (taken("(")) {
      found = any(negated);
      if (!taken(")")) wanted(")");
    } else if (taken("~") || taken("not")) {
      found = one(!negated);
    } else {
      found = {{term(negated)}};
    }
    --depth_;
    return found;
  }

  // "0:EAX=1", "[x]=1", "x = 1", "0:r0 <> 1"
  ConditionTerm term(bool negated) {
    const std::size_t end = std::min(skipped().find_first_of("=<!"), rest_.size());
    std::string_view name = stripped(rest_.substr(0, end));
    rest_.remove_prefix(end);
    const bool differs = taken("<>") || taken("!=");
    if (name.empty() || name.find_first_of("()/\\~ ") != name.npos || (!differs && !taken("="))) wanted("NAME=NUMBER");
    skipped();
    const std::size_t digits = std::min(rest_.find_first_not_of("0123456789abcdefxABCDEF"), rest_.size());
    const auto value = litmus_number(rest_.substr(0, digits));
    if (!value) wanted("NAME=NUMBER");
    rest_.remove_prefix(digits);
    if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
    return {std::string(name), *value, differs != negated};
  }

  std::string_view rest_;
  int depth_ = 0;
};

}  // namespace

bool begins_condition(std::string_view text) {
  constexpr std::array<std::string_view, 4> kQuantifiers = {"exists", "~exists", "~ exists", "forall"};
  return std::ranges::any_of(kQuantifiers, [text](std::string_view one) { return text.starts_with(one); });
}

LitmusCondition parse_condition(std::string_view text) {
  return ConditionParser(text).parse();
}

}  // namespace linebounce::sim
