#include "sim/terminal/cost_formula.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "models/text/trimmed.hpp"

namespace linebounce::sim {
namespace {

bool is_name_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
         letter == '_';
}

bool is_digit_or_point(char letter) {
  return (letter >= '0' && letter <= '9') || letter == '.';
}

// Evaluates an expression while it parses it, so a formula is parsed once for each column.
class Evaluation {
 public:
  Evaluation(std::string_view text, const std::map<std::string, double>& values) : text_(text), values_(values) {}

  double all() {
    const double value = sum();
    if (peek() != '\0') refuse(fmt::format("'{}' is not expected", text_.substr(at_)));
    return value;
  }

 private:
  static constexpr int kDeepest = 100;  // nested parentheses and signs

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }

  double sum() {
    double value = product();
    for (;;) {
      if (take('+')) {
        value += product();
      } else if (take('-')) {
        value -= product();
      } else {
        return value;
      }
    }
  }

  double product() {
    double value = factor();
    for (;;) {
      if (take('*')) {
        value *= factor();
      } else if (take('/')) {
        const double divisor = factor();
        value = divisor == 0 ? 0 : value / divisor;
      } else {
        return value;
      }
    }
  }

  double factor() {
    if (++depth_ > kDeepest) refuse("too many parentheses");
    const double value = unit();
    --depth_;
    return value;
  }

  double unit() {
    if (take('-')) return -factor();
    if (take('(')) {
      const double value = sum();
      if (!take(')')) refuse("')' is missing");
      return value;
    }
    const char first = peek();
    if (is_digit_or_point(first)) return number();
    if (is_name_letter(first)) return counter();
    refuse(first == '\0' ? "ends where a counter or a number is expected"
                         : fmt::format("'{}' is not expected", text_.substr(at_)));
  }

  double number() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_digit_or_point(text_[at_])) ++at_;
    const std::string_view digits = text_.substr(begin, at_ - begin);
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size()) refuse(fmt::format("'{}' is not a number", digits));
    return value;
  }

  double counter() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_letter(text_[at_])) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    const auto found = values_.find(name);
    if (found != values_.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [one, value] : values_) known.push_back(one);
    refuse(fmt::format("unknown counter '{}'; legal: {}", name, fmt::join(known, ", ")));
  }

  [[noreturn]] void refuse(const std::string& why) const { throw std::invalid_argument(why); }

  std::string_view text_;
  const std::map<std::string, double>& values_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

CostFormula::CostFormula(std::string_view text, const std::string& place) : place_(fmt::format("{} '{}'", place, text)) {
  const std::size_t equals = text.find('=');
  const std::string_view name = trimmed(text.substr(0, equals));
  const bool is_name = !name.empty() && !is_digit_or_point(name.front()) && std::ranges::all_of(name, is_name_letter);
  if (equals == text.npos || !is_name) refuse("expected NAME = COSTS, as in \"cycles = hits*1 + misses*100\"");
  name_ = name;
  expression_ = trimmed(text.substr(equals + 1));
}

double CostFormula::value(const std::map<std::string, double>& values) const {
  try {
    return Evaluation(expression_, values).all();
  } catch (const std::invalid_argument& wrong) {
    refuse(wrong.what());
  }
}

void CostFormula::refuse(const std::string& why) const {
  throw std::invalid_argument(fmt::format("{}: {}", place_, why));
}

void add_costs(const std::vector<CostFormula>& costs, std::map<std::string, double>& values) {
  for (const CostFormula& cost : costs) {
    const double value = cost.value(values);
    if (!values.emplace(cost.name(), value).second)
      cost.refuse(fmt::format("{}: is there already; choose another name", cost.name()));
  }
}

}  // namespace linebounce::sim
