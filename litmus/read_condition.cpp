#include "litmus/read_condition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "forms/line_file.hpp"
#include "litmus/read_test.hpp"
#include "models/text/visible.hpp"

namespace linebounce::sim::litmus {
namespace {

constexpr int kDeepestCondition = 128;

class Nesting {
 public:
  explicit Nesting(int& depth) : depth_(depth) {
    if (++depth_ > kDeepestCondition) throw std::invalid_argument("the condition is nested too deeply");
  }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  int& depth_;
};

class ConditionReader {
 public:
  ConditionReader(Program& program, Scanner& scanner) : program_(program), scanner_(scanner) {}

  Condition any() {
    const Nesting nesting(depth_);
    Condition left = every();
    if (scanner_.taken("=>")) return Condition::joined(Kind::any, Condition::negated(std::move(left)), any());
    while (scanner_.taken("\\/") || scanner_.taken("||")) left = Condition::joined(Kind::any, std::move(left), every());
    return left;
  }

 private:
  using Kind = Condition::Kind;

  Condition every() {
    Condition left = one();
    while (scanner_.taken("/\\") || scanner_.taken("&&")) left = Condition::joined(Kind::all, std::move(left), one());
    return left;
  }

  Condition one() {
    const Nesting nesting(depth_);
    Condition found;
    if (scanner_.taken("(")) {
      found = any();
      scanner_.expect(")");
    } else if (scanner_.taken("~") || scanner_.taken_word("not")) {
      found = Condition::negated(one());
    } else if (scanner_.taken_word("false")) {
      found = Condition::negated({});
    } else if (!scanner_.taken_word("true")) {
      found = term();
    }
    return found;
  }

  // "0:EAX=1", "[x]=1", "x = 1", "*x=1", "0:r0 <> 1", "1:r1=x"
  Condition term() {
    Condition found;
    found.kind = Condition::Kind::term;
    found.place = place();
    const bool differs = scanner_.taken("<>") || scanner_.taken("!=");
    if (!differs && !scanner_.taken("==") && !scanner_.taken("=")) scanner_.wanted("\"=\"");
    value(found);
    return differs ? Condition::negated(std::move(found)) : found;
  }

  Place place() {
    if (const auto thread = scanner_.number()) {
      scanner_.expect(":");
      return reg(std::to_string(*thread));
    }
    const bool is_bracketed = scanner_.taken("[");
    while (scanner_.taken("*")) {
    }
    const std::string_view name = scanner_.name();
    if (name.empty()) scanner_.wanted("PLACE=VALUE");
    if (is_bracketed) scanner_.expect("]");
    if (!is_bracketed && scanner_.taken(":")) return reg(name);
    if (scanner_.next_is("[")) throw std::invalid_argument("arrays have no counterpart here");
    return {-1, program_.variable(name)};
  }

  Place reg(std::string_view thread) {
    const bool is_at_t = scanner_.taken("%");
    const std::string_view name = scanner_.name();
    if (name.empty()) scanner_.wanted("a register");
    (void)is_at_t;
    return register_place(program_, thread, name, false);
  }

  void value(Condition& found) {
    scanner_.taken("$");
    if (const auto number = scanner_.number()) {
      if (scanner_.next_is(":")) {
        scanner_.expect(":");
        found.other = reg(std::to_string(*number));
      }
      found.value = *number;
      return;
    }
    while (scanner_.taken("&") || scanner_.taken("*")) {
    }
    const std::string_view name = scanner_.name();
    if (name.empty()) scanner_.wanted("a number or a variable's name");
    found.value = name == "NULL" ? 0 : address_of(program_.variable(name));
  }

  Program& program_;
  Scanner& scanner_;
  int depth_ = 0;
};

}  // namespace

Condition read_condition(Program& program, Scanner& scanner) {
  return ConditionReader(program, scanner).any();
}

Place register_place(Program& program, std::string_view thread, std::string_view name, bool may_be_new) {
  if (thread.starts_with('P')) thread.remove_prefix(1);
  const auto number = decimal(thread);
  if (!number || *number >= kMostTestThreads) throw std::invalid_argument("expected THREAD:REGISTER");
  if (*number >= program.threads.size()) {
    if (!may_be_new) throw std::invalid_argument(fmt::format("there is no thread P{}", *number));
    program.threads.resize(*number + 1);
  }
  std::string reg(name);
  if (program.architecture == "AArch64") reg = aarch64_register(name);
  if (program.architecture.starts_with("X86")) reg = x86_register(name);
  if (reg.empty()) throw std::invalid_argument(fmt::format("{} is no register", visible_name(name)));
  Thread& of = program.threads[*number];
  // A machine's register is there, and holds 0, even if no instruction names it. A variable in C must be declared.
  const bool is_declared = program.architecture == "C" || program.architecture == "LISA";
  if (!may_be_new && is_declared && std::ranges::find(of.registers, reg) == of.registers.end())
    throw std::invalid_argument(fmt::format("{}:{} is a register that its thread does not have", *number, visible_name(name)));
  return {static_cast<int>(*number), of.reg(reg)};
}

}  // namespace linebounce::sim::litmus
