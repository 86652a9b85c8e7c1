// Functions of litmus tests in C, with the Linux kernel's primitives or C11's.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

#include "forms/line_file.hpp"
#include "litmus/kernel_calls.hpp"
#include "litmus/read_test.hpp"
#include "litmus/scanner.hpp"
#include "models/text/visible.hpp"

namespace linebounce::sim::litmus {
namespace {

using Op = Expression::Op;
using Kind = Instruction::Kind;

constexpr std::array<std::string_view, 25> kTypes = {
    "int",      "long",     "unsigned", "signed",   "char",     "short",     "void",      "volatile", "const",
    "struct",   "bool",     "intptr_t", "size_t",   "int8_t",   "int16_t",   "int32_t",   "int64_t",  "uint8_t",
    "uint16_t", "uint32_t", "uint64_t", "atomic_t", "register", "uintptr_t", "spinlock_t"};
constexpr std::array<std::string_view, 8> kNoStatements = {"while", "for",    "do",    "switch",
                                                           "goto",  "return", "break", "continue"};
constexpr int kDeepestStatement = 64;
constexpr int kMostOperators = 1000;  // of a thread

// Parses one function body. Expressions have no side effects: an access becomes an instruction as soon as it is read, and its
// value a register.
class FunctionReader {
 public:
  FunctionReader(Program& program, Thread& thread, Scanner& scanner, std::set<std::string> variables)
      : program_(program), thread_(thread), scanner_(scanner), variables_(std::move(variables)) {}

  // After the opening brace.
  void body() {
    while (!scanner_.taken("}")) {
      if (scanner_.at_end()) scanner_.wanted("\"}\"");
      statement();
    }
  }

 private:
  // ---- Statements ----

  void statement() {
    if (++depth_ > kDeepestStatement) throw std::invalid_argument("nested too deeply");
    line_ = scanner_.line();
    for (const std::string_view word : kNoStatements) {
      if (scanner_.taken_word(word)) throw std::invalid_argument(fmt::format("{} has no counterpart here", word));
    }
    if (scanner_.taken("{")) {
      body();
    } else if (scanner_.taken_word("if")) {
      if_statement();
    } else if (!scanner_.taken(";")) {
      is_declaration() ? declaration() : simple_statement();
      line_ = scanner_.line();
      scanner_.expect(";");
    }
    --depth_;
  }

  void if_statement() {
    scanner_.expect("(");
    const Expr condition = expression();
    scanner_.expect(")");
    add({.kind = Kind::scope_begin});
    const std::size_t to_else = add({.kind = Kind::branch, .condition = unary_expr(Op::is_zero, condition)});
    statement();
    if (scanner_.taken_word("else")) {
      const std::size_t to_end = add({.kind = Kind::branch, .condition = number_expr(1)});
      land(to_else);
      statement();
      land(to_end);
    } else {
      land(to_else);
    }
    add({.kind = Kind::scope_end});
  }

  bool is_declaration() {
    return std::ranges::any_of(kTypes, [this](std::string_view type) {
      Scanner ahead = scanner_;
      return ahead.taken_word(type);
    });
  }

  // "int r0;", "int *r1 = &x, r2 = 0;"
  void declaration() {
    take_type();
    do {
      while (scanner_.taken("*")) {
      }
      const std::string name(scanner_.name());
      if (name.empty()) scanner_.wanted("a name");
      if (scanner_.next_is("[")) throw std::invalid_argument("arrays have no counterpart here");
      variables_.erase(name);
      locals_.insert(name);
      const int reg = thread_.reg(name);
      if (scanner_.taken("=")) assign(reg, expression());
    } while (scanner_.taken(","));
  }

  void take_type() {
    for (bool is_type = true; is_type;) {
      is_type = false;
      for (const std::string_view type : kTypes) {
        if (!scanner_.taken_word(type)) continue;
        is_type = true;
        if (type == "struct") scanner_.name();
      }
    }
  }

  // An assignment, or a call.
  void simple_statement() {
    Scanner ahead = scanner_;
    if (ahead.taken("*")) {
      scanner_.taken("*");
      const Expr address = unary();
      if (!scanner_.taken("=")) scanner_.wanted("\"=\"");
      const Expr value = expression();
      add({.kind = Kind::store, .address = address, .value = value});
      return;
    }
    const std::string name(ahead.name());
    if (!name.empty() && ahead.next_is("=") && !ahead.next_is("==")) {
      scanner_ = ahead;
      scanner_.expect("=");
      if (is_variable(name))
        throw std::invalid_argument(fmt::format("{} is a shared variable's address: write *{} = ...", name, name));
      const Expr value = expression();
      return assign(thread_.reg(name), value);
    }
    const bool is_cast = name.empty() && ahead.next_is("(");  // (void)f(x);
    if (!is_cast && (name.empty() || !ahead.next_is("("))) scanner_.wanted("a statement");
    expression();
  }

  [[nodiscard]] bool is_variable(const std::string& name) const {
    if (locals_.contains(name)) return false;
    return variables_.contains(name) ||
           (std::ranges::find(program_.variables, name, &Variable::name) != program_.variables.end() &&
            std::ranges::find(thread_.registers, name) == thread_.registers.end());
  }

  // ---- Instructions ----

  std::size_t add(Instruction one) {
    one.line = line_;
    thread_.instructions.push_back(std::move(one));
    return thread_.instructions.size() - 1;
  }
  void assign(int target, Expr value) { add({.kind = Kind::assign, .target = target, .value = std::move(value)}); }
  void land(std::size_t branch) { thread_.instructions[branch].to = static_cast<int>(thread_.instructions.size()); }
  int temporary() { return thread_.reg(fmt::format(".{}", temporaries_++)); }

  // ---- Expressions ----

  struct Level {
    std::string_view symbol;
    Op op;
    int level;
  };
  // From the loosest to the tightest. Longer symbols first.
  static constexpr std::array<Level, 17> kOperators = {{{"||", Op::either, 0},
                                                        {"&&", Op::both, 1},
                                                        {"==", Op::equal, 5},
                                                        {"!=", Op::unequal, 5},
                                                        {"<=", Op::less_equal, 6},
                                                        {">=", Op::greater_equal, 6},
                                                        {"<<", Op::shift_left, 7},
                                                        {">>", Op::shift_right, 7},
                                                        {"<", Op::less, 6},
                                                        {">", Op::greater, 6},
                                                        {"|", Op::bit_or, 2},
                                                        {"^", Op::bit_xor, 3},
                                                        {"&", Op::bit_and, 4},
                                                        {"+", Op::add, 8},
                                                        {"-", Op::subtract, 8},
                                                        {"*", Op::multiply, 9},
                                                        {"/", Op::number, 9}}};

  Expr expression(int least = 0) {
    Expr left = unary();
    for (;;) {
      const auto found = std::ranges::find_if(kOperators, [this](const Level& one) { return scanner_.next_is(one.symbol); });
      if (found == kOperators.end() || found->level < least) return left;
      if (found->op == Op::number) throw std::invalid_argument("division has no counterpart here");
      scanner_.expect(found->symbol);
      if (++operators_ > kMostOperators) throw std::invalid_argument(fmt::format("more than {} operators", kMostOperators));
      left = found->level < 2 ? lazy(found->op, left, found->level + 1)
                              : binary_expr(found->op, left, expression(found->level + 1));
    }
  }

  // The right side of && and || runs only if the left side has not decided already.
  Expr lazy(Op op, const Expr& left, int level) {
    const std::size_t before = thread_.instructions.size();
    const Expr right = expression(level);
    if (thread_.instructions.size() == before) return binary_expr(op, left, right);
    const int result = temporary();
    assign(result, binary_expr(op, left, right));
    const Instruction undecided{.kind = Kind::assign, .line = line_, .target = result, .value = left};
    const Instruction scope{.kind = Kind::scope_begin, .line = line_};
    Instruction skip{.kind = Kind::branch, .line = line_};
    skip.condition = op == Op::both ? unary_expr(Op::is_zero, left) : left;
    constexpr int kAdded = 3;
    for (std::size_t i = before; i < thread_.instructions.size(); ++i) {
      if (thread_.instructions[i].kind == Kind::branch) thread_.instructions[i].to += kAdded;
    }
    skip.to = static_cast<int>(thread_.instructions.size()) + kAdded;
    thread_.instructions.insert(thread_.instructions.begin() + static_cast<std::ptrdiff_t>(before), {undecided, scope, skip});
    add({.kind = Kind::scope_end});
    return register_expr(result);
  }

  Expr unary() {
    if (++depth_ > kDeepestStatement) throw std::invalid_argument("nested too deeply");
    Expr result;
    if (scanner_.taken("!")) {
      result = unary_expr(Op::is_zero, unary());
    } else if (scanner_.taken("~")) {
      result = unary_expr(Op::invert, unary());
    } else if (const auto number = scanner_.number()) {
      result = number_expr(*number);
      while (scanner_.taken("U") || scanner_.taken("L")) {
      }
    } else if (scanner_.taken("-")) {
      result = unary_expr(Op::negate, unary());
    } else if (scanner_.taken("*")) {
      const int reg = temporary();
      const Expr address = unary();
      add({.kind = Kind::load, .target = reg, .address = address});
      result = register_expr(reg);
    } else if (scanner_.taken("&")) {
      result = place();
    } else if (scanner_.taken("(")) {
      result = parenthesis();
    } else {
      result = named();
    }
    --depth_;
    return result;
  }

  // "(e)", or a cast.
  Expr parenthesis() {
    if (is_declaration()) {
      take_type();
      while (scanner_.taken("*")) {
      }
      scanner_.expect(")");
      return unary();
    }
    Expr inner = expression();
    scanner_.expect(")");
    return inner;
  }

  Expr named() {
    const std::string name(scanner_.name());
    if (name.empty()) scanner_.wanted("an expression");
    if (scanner_.taken("(")) return call(name);
    if (scanner_.next_is("[") || scanner_.next_is("->"))
      throw std::invalid_argument("arrays and structures have no counterpart here");
    if (name == "NULL") return number_expr(0);
    if (is_variable(name)) return number_expr(address_of(program_.variable(name)));
    return register_expr(thread_.reg(name));
  }

  // The address of "*e", of a variable's name, or of either in parentheses.
  Expr place() {
    if (scanner_.taken("*")) return unary();
    if (scanner_.taken("(")) {
      Expr inner = place();
      scanner_.expect(")");
      return inner;
    }
    const std::string name(scanner_.name());
    if (name.empty()) scanner_.wanted("a variable");
    if (scanner_.next_is("[") || scanner_.next_is("->"))
      throw std::invalid_argument("arrays and structures have no counterpart here");
    if (!is_variable(name)) throw std::invalid_argument(fmt::format("{} is no shared variable", visible_name(name)));
    return number_expr(address_of(program_.variable(name)));
  }

  // ---- Calls ----

  // After the opening parenthesis.
  Expr call(const std::string& name) {
    auto found = kernel_call(name);
    if (!found) throw std::invalid_argument(fmt::format("{}() has no counterpart here", visible_name(name)));
    KernelCall& one = *found;
    if (one.is_c11) program_.is_of_c11 = true;
    std::vector<Expr> arguments;
    while (!scanner_.taken(")")) {
      if (!arguments.empty() || order_is_read_) scanner_.expect(",");
      const bool is_place = arguments.empty() && one.is_place_an_lvalue;
      if (one.needs_order && is_order(one)) continue;
      arguments.push_back(is_place ? place() : expression());
    }
    order_is_read_ = false;
    return made(name, one, arguments);
  }

  bool is_order(KernelCall& one) {
    if (!scanner_.next_is("memory_order_")) return false;
    set_c11_order(one, scanner_.name());
    return order_is_read_ = true;
  }

  static void expect(const std::string& name, const std::vector<Expr>& arguments, std::size_t count) {
    if (arguments.size() != count)
      throw std::invalid_argument(fmt::format("{}() takes {} arguments, not {}", name, count, arguments.size()));
  }

  Expr made(const std::string& name, const KernelCall& one, const std::vector<Expr>& arguments) {
    using Call = KernelCall::Kind;
    switch (one.kind) {
      case Call::load: {
        expect(name, arguments, 1);
        const int reg = temporary();
        add({.kind = Kind::load, .target = reg, .address = arguments[0], .tags = one.tags});
        return register_expr(reg);
      }
      case Call::store:
        expect(name, arguments, has_tag(one.tags, Tag::unlock) ? 1 : 2);
        add({.kind = Kind::store,
             .address = arguments[0],
             .value = arguments.size() == 1 ? number_expr(0) : arguments[1],
             .tags = one.tags});
        if (one.fence != 0) add({.kind = Kind::fence, .tags = one.fence});
        break;
      case Call::fence:
        expect(name, arguments, 0);
        add({.kind = Kind::fence, .tags = one.tags});
        break;
      case Call::domain: return domain(name, one, arguments);
      case Call::nothing: break;
      default: return update(name, one, arguments);
    }
    return number_expr(0);
  }

  Expr domain(const std::string& name, const KernelCall& one, const std::vector<Expr>& arguments) {
    const bool is_end = has_tag(one.tags, Tag::srcu_unlock);
    expect(name, arguments, is_end ? 2 : 1);
    const int reg = temporary();
    add({.kind = Kind::fence,
         .target = reg,
         .address = arguments[0],
         .value = is_end ? arguments[1] : nullptr,
         .tags = one.tags});
    return register_expr(reg);
  }

  // An atomic update: the old value gets a register, and the new one is an expression of it.
  Expr update(const std::string& name, const KernelCall& one, const std::vector<Expr>& arguments) {
    using Call = KernelCall::Kind;
    const int old = temporary();
    const Expr before = register_expr(old);
    Instruction update{.kind = Kind::update,
                       .target = old,
                       .tags = one.tags,
                       .store_tags = one.store_tags,
                       .failed_tags = tag(Tag::once),
                       .is_fenced = one.is_fenced};
    switch (one.kind) {
      case Call::exchange:
        expect(name, arguments, 2);
        update.address = arguments[0];
        update.value = arguments[1];
        break;
      case Call::compare:
        expect(name, arguments, 3);
        update.address = arguments[0];
        update.expected = arguments[1];
        update.value = arguments[2];
        break;
      case Call::arithmetic:
        expect(name, arguments, one.operand ? 1 : 2);
        update.address = arguments.back();
        update.value = binary_expr(one.op, before, one.operand ? number_expr(*one.operand) : arguments[0]);
        break;
      case Call::add_unless:
        expect(name, arguments, one.operand ? 1 : 3);
        update.address = arguments[0];
        update.tags = update.store_tags = tag(Tag::once);
        update.value = binary_expr(Op::add, before, one.operand ? number_expr(*one.operand) : arguments[1]);
        update.expected = one.operand ? number_expr(0) : arguments[2];
        update.differs = true;
        break;
      default: return lock(name, one, arguments, std::move(update));
    }
    const Expr stored = update.value, unless = update.expected;
    add(std::move(update));
    return result_of(one, before, stored, unless);
  }

  static Expr result_of(const KernelCall& one, const Expr& before, const Expr& stored, const Expr& unless) {
    switch (one.returns) {
      case KernelCall::Returns::old: return before;
      case KernelCall::Returns::result: return stored;
      case KernelCall::Returns::is_zero: return unary_expr(Op::is_zero, stored);
      case KernelCall::Returns::is_negative: return binary_expr(Op::less, stored, number_expr(0));
      case KernelCall::Returns::has_changed: return binary_expr(Op::unequal, before, unless);
      case KernelCall::Returns::nothing: break;
    }
    return number_expr(0);
  }

  // A lock is 0 while it is free. spin_lock() waits until it is, so what counts are the executions in which it gets it.
  Expr lock(const std::string& name, const KernelCall& one, const std::vector<Expr>& arguments, Instruction update) {
    expect(name, arguments, 1);
    update.address = arguments[0];
    update.value = number_expr(1);
    update.expected = number_expr(0);
    update.tags = tag(Tag::acquire) | tag(Tag::lock);
    update.store_tags = tag(Tag::once) | tag(Tag::lock);
    update.failed_tags = tag(Tag::lock_failed);
    const Expr is_free = unary_expr(Op::is_zero, register_expr(update.target));
    add(std::move(update));
    if (one.kind == KernelCall::Kind::lock) {
      add({.kind = Kind::require, .condition = is_free});
      return number_expr(0);
    }
    return is_free;
  }

  Program& program_;
  Thread& thread_;
  Scanner& scanner_;
  std::set<std::string> variables_;  // parameters
  std::set<std::string> locals_;
  int temporaries_ = 0;
  int line_ = 0;
  int depth_ = 0, operators_ = 0;
  bool order_is_read_ = false;
};

// "(int *x, spinlock_t *l)": the names are shared variables.
std::set<std::string> parameters(Program& program, Scanner& scanner) {
  std::set<std::string> names;
  scanner.expect("(");
  std::string_view last;
  while (!scanner.at_end()) {
    const bool is_end = scanner.taken(")");
    if (is_end || scanner.taken(",")) {
      if (!last.empty() && last != "void") {
        program.variable(last);
        names.emplace(last);
      }
      if (is_end) return names;
      last = {};
      continue;
    }
    if (const std::string_view name = scanner.name(); !name.empty()) {
      last = name;
    } else if (!scanner.taken("*")) {
      scanner.wanted("a parameter such as \"int *x\"");
    }
  }
  scanner.wanted("\")\"");
}

void read_function(Program& program, Scanner& scanner) {
  const bool is_static = scanner.taken_word("static");
  (void)is_static;
  scanner.taken_word("void");
  const std::string_view name = scanner.name();
  const auto number = name.starts_with('P') ? decimal(name.substr(1)) : std::nullopt;
  if (!number || *number >= kMostTestThreads) scanner.wanted("a function P0, P1, ... in place of what is");
  if (program.threads.size() <= *number) program.threads.resize(*number + 1);
  std::set<std::string> variables = parameters(program, scanner);
  scanner.expect("{");
  FunctionReader(program, program.threads[*number], scanner, std::move(variables)).body();
}

}  // namespace

void read_c_functions(Program& program, std::string_view text, int line) {
  Scanner scanner(text, line);
  while (!scanner.at_end()) {
    try {
      read_function(program, scanner);
    } catch (const std::invalid_argument& problem) {
      refuse_line(scanner.line(), problem.what());
    }
  }
}

}  // namespace linebounce::sim::litmus
