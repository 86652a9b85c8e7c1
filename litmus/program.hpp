// A litmus test, whatever language it was written in: threads of a few instructions, initial values, and a proposition about
// the state at the end.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "litmus/final_condition.hpp"

namespace linebounce::sim::litmus {

// ---- What is said of an event; the sets that models speak of ----

// The word behind each is the set's name in a model (models/README.md).
enum class Tag : std::uint8_t {
  once,
  acquire,
  acquire_pc,
  release,
  no_return,
  locked,
  full_fence,
  load_fence,
  store_fence,
  instruction_fence,
  completes,
  compiler_fence,
  before_atomic,
  after_atomic,
  after_spinlock,
  after_unlock_lock,
  after_srcu_unlock,
  lock,
  unlock,
  lock_failed,
  lock_looked_at,
  rcu_lock,
  rcu_unlock,
  rcu_grace,
  srcu_lock,
  srcu_unlock,
  srcu_grace,
  count
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(Tag::count)> kTagNames = {
    // accesses
    "Once", "Acquire", "AcquirePC", "Release", "NoReturn", "Locked",
    // fences
    "Full", "LoadFence", "StoreFence", "Isb", "Dsb", "CompilerFence", "BeforeAtomic", "AfterAtomic", "AfterSpinlock",
    "AfterUnlockLock", "AfterSrcuUnlock",
    // the kernel's locks and critical sections
    "Lock", "Unlock", "LockFailed", "LockLookedAt", "RcuLock", "RcuUnlock", "RcuGrace", "SrcuLock", "SrcuUnlock", "SrcuGrace"};

using Tags = std::uint32_t;
constexpr Tags tag(Tag one) {
  return Tags{1} << static_cast<unsigned>(one);
}
constexpr bool has_tag(Tags tags, Tag one) {
  return (tags & tag(one)) != 0;
}

// ---- Expressions over a thread's registers ----

struct Expression;
using Expr = std::shared_ptr<const Expression>;

struct Expression {
  enum class Op : std::uint8_t {
    number,
    reg,
    negate,
    invert,
    is_zero,
    add,
    subtract,
    multiply,
    bit_and,
    bit_or,
    bit_xor,
    shift_left,
    shift_right,
    equal,
    unequal,
    less,
    less_equal,
    greater,
    greater_equal,
    both,
    either
  };
  Op op = Op::number;
  Word number = 0;
  int reg = -1;
  Expr left = {}, right = {};
};

Expr number_expr(Word number);
Expr register_expr(int reg);
Expr unary_expr(Expression::Op op, Expr of);
Expr binary_expr(Expression::Op op, Expr left, Expr right);
// The operation on two numbers.
Word applied(Expression::Op op, Word left, Word right);

// ---- Instructions ----

struct Instruction {
  enum class Kind : std::uint8_t {
    assign,           // target = value
    choose,           // target = condition ? value : other. Depends on the chosen one; the choice itself is a weaker dependency
    load,             // target = [address]
    store,            // [address] = value
    update,           // target = [address]; if it equals `expected` (or there is none): [address] = value. Atomic
    fence,            //
    branch,           // if condition: goto to
    scope_begin,      // control dependencies of branches from here on ...
    scope_end,        // ... end here: an `if` in C orders its arms, not what follows
    load_exclusive,   // target = [address]
    store_exclusive,  // [address] = value if the matching load_exclusive's reservation holds; target = 0, else target = 1
    require           // executions in which the condition is 0 are left out: a spinlock that is never taken
  };
  Kind kind = Kind::fence;
  int line = 0;
  int target = -1;  // -1: none
  Expr address = {}, value = {}, other = {}, condition = {}, expected = {};
  Tags tags = 0;                     // of the load, the store or the fence; of an update's load
  Tags store_tags = 0;               // of an update's store
  Tags failed_tags = 0;              // of an update's load that stores nothing, since the value differs from the expected one
  bool differs = false;              // update: stores if the value is not the expected one
  bool is_fenced = false;            // update: a full fence on either side of one that stores
  bool is_two_instructions = false;  // update: a load and a store that something may come between (x86 without LOCK)
  bool keeps_expected = false;  // update: a success leaves the register that holds the expected value as it was (Arm's CAS)
  int to = -1;
};

struct Thread {
  std::vector<Instruction> instructions;
  std::vector<std::string> registers;  // names, by number
  std::vector<Word> initial;           // values, by register

  // The number of the register of this name; makes one if there is none.
  int reg(std::string_view name);
};

struct Variable {
  std::string name;
  Word initial = 0;
};

// A variable's address as a value. Numbers that a test computes with stay below.
inline constexpr Word kFirstAddress = Word{1} << 40;
inline constexpr Word kAddressStep = 64;
constexpr Word address_of(int variable) {
  return kFirstAddress + kAddressStep * variable;
}

struct Program {
  std::string architecture;  // "X86", "AArch64", "C", "LISA"
  std::string name, title;
  std::vector<Variable> variables;
  std::vector<Thread> threads;
  std::vector<std::string> source;  // the file's lines; Instruction::line counts from 1
  Condition condition;              // the proposition inside "exists (...)"
  Condition filter;                 // executions without this property don't count
  enum class Quantifier : std::uint8_t { exists, not_exists, for_all } quantifier = Quantifier::exists;
  std::string condition_text;  // as written
  std::string stated;          // the result that a comment states: "Never", "Sometimes", "Always", "Deadlock"; empty: none
  bool states_race = false;    // the comment says DATARACE, too
  bool is_of_c11 = false;      // its C uses <stdatomic.h>

  // The number of the variable of this name; makes one if there is none.
  int variable(std::string_view called);
  [[nodiscard]] int variable_at(Word address) const;  // -1: none
  // A value for a reader: "1", or the name of the variable whose address it is.
  [[nodiscard]] std::string text_of(Word value) const;
};

}  // namespace linebounce::sim::litmus
