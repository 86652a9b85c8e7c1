// The machine finishes a load before its next operation begins, so what a dependency orders is in order anyway: only the value
// of an expression matters here.
#include "litmus/machine_program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>

#include "litmus/scanner.hpp"
#include "workloads/litmus/litmus_test.hpp"

namespace linebounce::sim::litmus {
namespace {

using Op = Expression::Op;
using Kind = Instruction::Kind;

constexpr std::size_t kMostMachineThreads = 8;
constexpr std::size_t kMostAlternatives = 64;
constexpr Word kLargestValue = 1'000'000;

[[noreturn]] void cannot(const std::string& reason) {
  throw std::invalid_argument(reason);
}

// What a register holds: a number, or what the test's load of this number has returned.
struct Held {
  int loaded = -1;
  Word number = 0;
};

class MachineTranslator {
 public:
  explicit MachineTranslator(const Program& program) : program_(program), places_(shown_places(program)) {}

  MachineProgram translate() {
    if (program_.threads.size() > kMostMachineThreads)
      cannot(fmt::format("the machine runs up to {} threads", kMostMachineThreads));
    if (program_.filter.kind != Condition::Kind::always) cannot("the machine has no filter of executions");
    const auto is_zero = [](const Variable& one) { return one.initial == 0; };
    if (!std::ranges::all_of(program_.variables, is_zero)) cannot("on the machine, variables start at 0");
    for (std::size_t i = 0; i < program_.threads.size(); ++i) thread(i);
    result_.threads = fmt::format("{}", fmt::join(texts_, " || "));
    result_.consistency = program_.architecture.starts_with("X86") ? "tso" : "ia64";
    if (is_strengthened_)
      result_.weakened =
          "On the machine, full fences stand for the barriers that order loads alone, stores alone, what is beside an atomic "
          "operation, or a release before an acquire.";
    ask();
    find_sources();
    return std::move(result_);
  }

 private:
  // ---- Threads ----

  void thread(std::size_t number) {
    const Thread& thread = program_.threads[number];
    held_.emplace_back();
    for (const Word value : thread.initial) held_.back().push_back({-1, value});
    texts_.emplace_back();
    is_released_ = false;
    for (const Instruction& one : thread.instructions) instruction(one);
    if (texts_.back().empty()) cannot(fmt::format("thread P{} does nothing", number));
  }

  void instruction(const Instruction& one) {
    switch (one.kind) {
      case Kind::assign: held_.back()[one.target] = held(*one.value); return;
      case Kind::load: {
        const bool acquires = has_tag(one.tags, Tag::acquire);
        if (acquires && is_released_) order_release_before_acquire();
        const int loaded = load(acquires || has_tag(one.tags, Tag::acquire_pc) ? "acq" : "", *one.address);
        if (one.target >= 0) held_.back()[one.target] = {loaded, 0};
        return;
      }
      case Kind::store:
        if (has_tag(one.tags, Tag::unlock)) cannot("the machine has no spinlocks in litmus tests");
        statement(fmt::format("{} ={} {}", variable(*one.address), has_tag(one.tags, Tag::release) ? "rel" : "",
                              text(held(*one.value))));
        is_released_ = is_released_ || has_tag(one.tags, Tag::release);
        return;
      case Kind::update: return update(one);
      case Kind::fence: return fence(one);
      case Kind::choose:
      case Kind::branch:
      case Kind::scope_begin:
      case Kind::scope_end: cannot("the machine runs no branches in litmus tests");
      case Kind::load_exclusive:
      case Kind::store_exclusive: cannot("the machine has no exclusive loads and stores");
      case Kind::require: cannot("the machine has no spinlocks in litmus tests");
    }
  }

  // On Arm, an acquire waits for all releases before it. The machine's model is Itanium's, where it does not.
  void order_release_before_acquire() {
    if (program_.architecture != "AArch64") return;
    statement("fence");
    is_released_ = false;
    is_strengthened_ = true;
  }

  void update(const Instruction& one) {
    if (has_tag(one.tags, Tag::lock)) cannot("the machine has no spinlocks in litmus tests");
    const bool uses_old = mentions(*one.value, one.target);
    if (one.expected || one.is_two_instructions || uses_old)
      cannot("of atomic operations, the machine runs the exchange alone");
    const Held stored = held(*one.value);
    if (stored.loaded >= 0) cannot("the machine exchanges a constant");
    // The machine's exchange is a fence, too.
    is_strengthened_ = is_strengthened_ || !(one.is_fenced || has_tag(one.tags, Tag::locked));
    is_released_ = false;
    const int loaded = registers_++;
    statement(fmt::format("r{} = exchange {} {}", loaded, variable(*one.address), text(stored)));
    held_.back()[one.target] = {loaded, 0};
  }

  static bool mentions(const Expression& expression, int reg) {
    if (expression.op == Op::reg) return expression.reg == reg;
    return (expression.left && mentions(*expression.left, reg)) || (expression.right && mentions(*expression.right, reg));
  }

  void fence(const Instruction& one) {
    for (const Tag grace : {Tag::rcu_grace, Tag::srcu_grace, Tag::srcu_lock, Tag::srcu_unlock}) {
      if (has_tag(one.tags, grace)) cannot("the machine knows no grace periods in litmus tests");
    }
    for (const Tag nothing : {Tag::rcu_lock, Tag::rcu_unlock, Tag::compiler_fence, Tag::instruction_fence}) {
      if (has_tag(one.tags, nothing)) return;
    }
    is_strengthened_ = is_strengthened_ || !has_tag(one.tags, Tag::full_fence);
    is_released_ = false;
    statement("fence");
  }

  int load(std::string_view order, const Expression& address) {
    const int loaded = registers_++;
    statement(fmt::format("r{} ={} {}", loaded, order, variable(address)));
    return loaded;
  }

  void statement(const std::string& text) { texts_.back() += (texts_.back().empty() ? "" : "; ") + text; }

  char variable(const Expression& address) {
    const Held at = held(address);
    if (at.loaded >= 0) cannot("the machine loads no addresses in litmus tests");
    const int number = program_.variable_at(at.number);
    if (number < 0) cannot("an address is computed");
    return letter(number);
  }

  char letter(int variable) {
    const auto found = std::ranges::find(result_.variables, variable);
    if (found == result_.variables.end() && result_.variables.size() == workloads::kLitmusVariables.size())
      cannot("there are too many variables");
    const std::size_t place = found - result_.variables.begin();
    if (found == result_.variables.end()) result_.variables.push_back(variable);
    return workloads::kLitmusVariables[place];
  }

  static std::string text(const Held& value) {
    if (value.loaded >= 0) return fmt::format("r{}", value.loaded);
    if (value.number < 0 || value.number > kLargestValue)
      cannot(fmt::format("the machine stores numbers from 0 to {}", kLargestValue));
    return std::to_string(value.number);
  }

  Held held(const Expression& expression) {
    if (expression.op == Op::number) return {-1, expression.number};
    if (expression.op == Op::reg) return held_.back()[expression.reg];
    const Held left = held(*expression.left), right = expression.right ? held(*expression.right) : Held();
    if (left.loaded < 0 && right.loaded < 0) return {-1, applied(expression.op, left.number, right.number)};
    const bool is_same = expression.right && left.loaded == right.loaded;
    if (is_same && (expression.op == Op::bit_xor || expression.op == Op::subtract)) return {};
    if (expression.op == Op::bit_and && ((left.loaded < 0 && left.number == 0) || (right.loaded < 0 && right.number == 0)))
      return {};
    const bool adds_nothing = expression.op == Op::add || expression.op == Op::bit_or;
    if (adds_nothing && right.loaded < 0 && right.number == 0) return left;
    if (adds_nothing && left.loaded < 0 && left.number == 0) return right;
    cannot("the machine does not compute with what it has loaded");
  }

  // ---- The condition, as alternatives of terms ----

  using Terms = std::vector<std::string>;
  using Alternatives = std::vector<Terms>;

  void ask() {
    const bool is_negated = program_.quantifier == Program::Quantifier::for_all;
    const Alternatives found = alternatives(program_.condition, is_negated);
    std::vector<std::string> texts;
    for (const Terms& terms : found) texts.push_back(fmt::format("{}", fmt::join(terms, " ")));
    result_.asks = fmt::format("{}", fmt::join(texts, " | "));
    if (result_.asks.empty() || std::ranges::any_of(found, &Terms::empty))
      cannot("the condition names no value that the machine shows");
  }

  Alternatives alternatives(const Condition& condition, bool is_negated) {
    switch (condition.kind) {
      case Condition::Kind::always: return is_negated ? Alternatives() : Alternatives{{}};
      case Condition::Kind::none: return alternatives(condition.parts.front(), !is_negated);
      case Condition::Kind::term: return term(condition, is_negated);
      default: break;
    }
    const bool adds = (condition.kind == Condition::Kind::any) != is_negated;
    Alternatives all;
    if (!adds) all.emplace_back();
    for (const Condition& part : condition.parts) {
      const Alternatives more = alternatives(part, is_negated);
      all = adds ? joined(all, more) : multiplied(all, more);
      if (all.size() > kMostAlternatives) cannot(fmt::format("the condition has more than {} alternatives", kMostAlternatives));
    }
    return all;
  }

  static Alternatives joined(Alternatives left, const Alternatives& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
  }
  static Alternatives multiplied(const Alternatives& left, const Alternatives& right) {
    Alternatives all;
    for (const Terms& one : left) {
      for (const Terms& other : right) {
        all.push_back(one);
        all.back().insert(all.back().end(), other.begin(), other.end());
      }
    }
    return all;
  }

  Alternatives term(const Condition& condition, bool is_negated) {
    if (condition.other) cannot("the condition compares two registers");
    const Place& place = condition.place;
    std::string name;
    if (place.thread < 0) {
      name = letter(place.number);
    } else {
      const Held& at = held_[place.thread][place.number];
      if (at.loaded < 0) return (at.number == condition.value) != is_negated ? Alternatives{{}} : Alternatives();
      name = fmt::format("r{}", at.loaded);
    }
    return {{fmt::format("{}{}={}", name, is_negated ? "!" : "", text({-1, condition.value}))}};
  }

  void find_sources() {
    const workloads::LitmusTest own = workloads::litmus_test_of(result_.threads, result_.asks);
    for (const Place& place : places_) {
      if (place.thread < 0) {
        const auto at =
            std::ranges::find_if(own.last_values, [&](int number) { return result_.variables[number] == place.number; });
        if (at == own.last_values.end()) cannot("the condition mentions a variable without need");
        result_.sources.push_back({own.registers + static_cast<int>(at - own.last_values.begin()), 0});
      } else {
        const Held& at = held_[place.thread][place.number];
        result_.sources.push_back({at.loaded, at.number});
      }
    }
  }

  const Program& program_;
  std::vector<Place> places_;
  MachineProgram result_;
  std::vector<std::string> texts_;       // by thread
  std::vector<std::vector<Held>> held_;  // by thread and register
  int registers_ = 0;
  bool is_strengthened_ = false;
  bool is_released_ = false;  // the thread has a release, and no fence behind it
};

}  // namespace

Outcome MachineProgram::outcome(std::string_view name) const {
  std::vector<Word> values;
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find('.'));
    name.remove_prefix(std::min(part.size() + 1, name.size()));
    values.push_back(whole_text_number(part.substr(part.find('_') + 1)).value_or(0));
  }
  Outcome outcome;
  for (const Source& source : sources) outcome.push_back(source.position < 0 ? source.value : values.at(source.position));
  return outcome;
}

MachineProgram machine_program(const Program& program) {
  return MachineTranslator(program).translate();
}

}  // namespace linebounce::sim::litmus
