#include "litmus/program.hpp"

#include <algorithm>

namespace linebounce::sim::litmus {
namespace {

using Op = Expression::Op;

}  // namespace

Expr number_expr(Word number) {
  return std::make_shared<Expression>(Expression{.op = Expression::Op::number, .number = number});
}
Expr register_expr(int reg) {
  return std::make_shared<Expression>(Expression{.op = Expression::Op::reg, .reg = reg});
}
Expr unary_expr(Expression::Op op, Expr of) {
  return std::make_shared<Expression>(Expression{.op = op, .left = std::move(of)});
}
Expr binary_expr(Expression::Op op, Expr left, Expr right) {
  return std::make_shared<Expression>(Expression{.op = op, .left = std::move(left), .right = std::move(right)});
}

Word applied(Expression::Op op, Word left, Word right) {
  // Unsigned, so that an overflow wraps as on the machines.
  const auto a = static_cast<std::uint64_t>(left), b = static_cast<std::uint64_t>(right);
  switch (op) {
    case Op::negate: return static_cast<Word>(0 - a);
    case Op::invert: return static_cast<Word>(~a);
    case Op::is_zero: return left == 0 ? 1 : 0;
    case Op::add: return static_cast<Word>(a + b);
    case Op::subtract: return static_cast<Word>(a - b);
    case Op::multiply: return static_cast<Word>(a * b);
    case Op::bit_and: return static_cast<Word>(a & b);
    case Op::bit_or: return static_cast<Word>(a | b);
    case Op::bit_xor: return static_cast<Word>(a ^ b);
    case Op::shift_left: return static_cast<Word>(a << (b & 63));
    case Op::shift_right: return static_cast<Word>(a >> (b & 63));
    case Op::equal: return left == right ? 1 : 0;
    case Op::unequal: return left != right ? 1 : 0;
    case Op::less: return left < right ? 1 : 0;
    case Op::less_equal: return left <= right ? 1 : 0;
    case Op::greater: return left > right ? 1 : 0;
    case Op::greater_equal: return left >= right ? 1 : 0;
    case Op::both: return left != 0 && right != 0 ? 1 : 0;
    case Op::either: return left != 0 || right != 0 ? 1 : 0;
    case Op::number:
    case Op::reg: break;
  }
  return left;
}

int Thread::reg(std::string_view name) {
  const auto found = std::ranges::find(registers, name);
  if (found != registers.end()) return static_cast<int>(found - registers.begin());
  registers.emplace_back(name);
  initial.push_back(0);
  return static_cast<int>(registers.size()) - 1;
}

int Program::variable(std::string_view called) {
  const auto found = std::ranges::find(variables, called, &Variable::name);
  if (found != variables.end()) return static_cast<int>(found - variables.begin());
  variables.push_back({std::string(called), 0});
  return static_cast<int>(variables.size()) - 1;
}

int Program::variable_at(Word address) const {
  const Word offset = address - kFirstAddress;
  if (offset < 0 || offset % kAddressStep != 0 || offset / kAddressStep >= std::ssize(variables)) return -1;
  return static_cast<int>(offset / kAddressStep);
}

std::string Program::text_of(Word value) const {
  const int number = variable_at(value);
  return number < 0 ? std::to_string(value) : variables[number].name;
}

}  // namespace linebounce::sim::litmus
