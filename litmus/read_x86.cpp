// Instructions of x86. Operands are in Intel's order, unless % or parentheses show that the syntax is AT&T's.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <stdexcept>

#include "forms/line_file.hpp"
#include "litmus/read_test.hpp"
#include "litmus/scanner.hpp"
#include "litmus/thread_writer.hpp"
#include "models/text/visible.hpp"

namespace linebounce::sim::litmus {

std::string x86_register(std::string_view text) {
  if (text.starts_with('%')) text.remove_prefix(1);
  const std::string name = upper_case(text);
  constexpr std::array<std::string_view, 8> kNames = {"AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP"};
  for (const std::string_view one : kNames) {
    if (name == one || (name.size() == 3 && name.substr(1) == one && (name[0] == 'E' || name[0] == 'R')))
      return "E" + std::string(one);
  }
  const bool is_numbered = name.size() >= 2 && name[0] == 'R' && name[1] >= '0' && name[1] <= '9';
  return is_numbered ? name.substr(0, name.find_last_of("0123456789") + 1) : "";
}

namespace {

using Op = Expression::Op;

constexpr std::array<NamedOp, 5> kX86Arithmetic = {
    {{"ADD", Op::add}, {"SUB", Op::subtract}, {"AND", Op::bit_and}, {"OR", Op::bit_or}, {"XOR", Op::bit_xor}}};
constexpr std::array<NamedOp, 12> kX86Conditions = {{{"E", Op::equal},
                                                     {"Z", Op::equal},
                                                     {"NE", Op::unequal},
                                                     {"NZ", Op::unequal},
                                                     {"L", Op::less},
                                                     {"LE", Op::less_equal},
                                                     {"G", Op::greater},
                                                     {"GE", Op::greater_equal},
                                                     {"B", Op::less},
                                                     {"BE", Op::less_equal},
                                                     {"A", Op::greater},
                                                     {"AE", Op::greater_equal}}};

// A register, a place in memory or a constant.
struct Operand {
  enum class Kind : std::uint8_t { reg, memory, constant } kind = Kind::constant;
  int reg = -1;
  Expr value;  // memory: the address
};

class X86 {
 public:
  X86(Program& program, Thread& thread) : program_(program), out_(thread) {}

  void read(const std::vector<Cell>& cells) {
    out_.write(cells, [this](std::string_view text) { cell_text(text); });
  }

 private:
  void cell_text(std::string_view text) {
    if (const std::size_t colon = text.find(':'); colon != text.npos && text.find('[') > colon) {
      out_.label(std::string(trimmed(text.substr(0, colon))));
      text = trimmed(text.substr(colon + 1));
    }
    if (!text.empty()) instruction(text);
  }

  [[noreturn]] static void unknown(const std::string& name) {
    throw std::invalid_argument(fmt::format(
        "{} has no counterpart here: known are MOV, XCHG, XADD, CMPXCHG, INC, DEC, NEG, NOT, ADD, SUB, AND, OR, XOR, with "
        "LOCK or without it, CMP, TEST, JMP, Jcc, MFENCE, LFENCE, SFENCE and NOP",
        visible_name(name)));
  }

  void instruction(std::string_view text) {
    std::string name = upper_case(take_word(text));
    const bool is_locked = name == "LOCK";
    if (is_locked) {
      text = trimmed(text.starts_with(';') ? text.substr(1) : text);
      name = upper_case(take_word(text));
    }
    std::vector<std::string> words = text.empty() ? std::vector<std::string>() : split_outside_brackets(text, ',');
    const bool is_att = text.find('%') != text.npos || text.find('(') != text.npos || text.find('$') < text.find(',');
    if (is_att) std::ranges::reverse(words);
    plain_name(name);
    if (jumps(name, words) || fences(name, words, is_locked)) return;
    std::vector<Operand> operands;
    for (const std::string& word : words) operands.push_back(operand(word));
    if (operands.size() == 1 && one_operand(name, operands[0], is_locked)) return;
    if (operands.size() == 2 && two_operands(name, operands[0], operands[1], is_locked)) return;
    unknown(name);
  }

  // Removes the width of an operand: MOVL, ADDQ.
  static void plain_name(std::string& name) {
    for (const std::string_view known :
         {"MOV", "XCHG", "XADD", "CMPXCHG", "INC", "DEC", "NEG", "NOT", "ADD", "SUB", "AND", "OR", "XOR", "CMP", "TEST"}) {
      const bool has_width = name.size() == known.size() + 1 && name.starts_with(known) &&
                             std::string_view("BWLQ").find(name.back()) != std::string_view::npos;
      if (has_width) name.pop_back();
    }
  }

  bool jumps(const std::string& name, const std::vector<std::string>& words) {
    if (name.empty() || name.front() != 'J' || words.size() != 1) return false;
    if (name == "JMP") {
      out_.jump(number_expr(1), words[0]);
      return true;
    }
    const NamedOp* const found = find_op(kX86Conditions, std::string_view(name).substr(1));
    if (found == nullptr) return false;
    out_.jump(binary_expr(found->op, register_expr(out_.hidden("left")), register_expr(out_.hidden("right"))), words[0]);
    return true;
  }

  // Fences, and the kernel's smp_mb(): "lock; addl $0,-4(%rsp)". No other thread accesses the stack, so only the LOCK counts.
  bool fences(const std::string& name, const std::vector<std::string>& words, bool is_locked) {
    if (is_locked && words.size() == 2 && is_on_stack(words[0]) && find_op(kX86Arithmetic, name) != nullptr) {
      out_.fence(tag(Tag::full_fence));
      return true;
    }
    if (!words.empty() || is_locked) return false;
    if (name == "MFENCE") out_.fence(tag(Tag::full_fence));
    // On write-back memory, LFENCE and SFENCE order nothing that x86-TSO does not order anyway.
    return name == "MFENCE" || name == "LFENCE" || name == "SFENCE" || name == "NOP";
  }

  // "[RSP-4]", "-4(%rsp)"
  static bool is_on_stack(std::string_view place) {
    const std::string upper = upper_case(place);
    const bool is_memory = upper.ends_with(']') || upper.ends_with(')');
    return is_memory && (upper.find("RSP") != upper.npos || upper.find("ESP") != upper.npos);
  }

  void set_flags(Expr left, Expr right) {
    out_.assign(out_.hidden("left"), std::move(left));
    out_.assign(out_.hidden("right"), std::move(right));
  }

  Operand operand(std::string_view text) {
    for (const std::string_view width : {"BYTE", "WORD", "DWORD", "QWORD", "PTR"}) {
      std::string_view rest = text;
      if (upper_case(take_word(rest)) == width && !rest.empty()) text = rest;
    }
    if (const std::string reg = x86_register(text); !reg.empty()) return {Operand::Kind::reg, out_.reg(reg), nullptr};
    if (text.size() > 2 && (text.front() == '[' || text.front() == '('))
      return {Operand::Kind::memory, -1, address(trimmed(text.substr(1, text.size() - 2)))};
    if (const std::size_t open = text.find("(%rip)"); open != text.npos)
      return {Operand::Kind::memory, -1, address(text.substr(0, open))};
    if (text.starts_with('$')) text.remove_prefix(1);
    if (const auto number = whole_text_number(text)) return {Operand::Kind::constant, -1, number_expr(*number)};
    throw std::invalid_argument(fmt::format("{} is no register, number or [place]", visible_name(text)));
  }

  Expr address(std::string_view place) {
    if (const std::string reg = x86_register(place); !reg.empty()) return register_expr(out_.reg(reg));
    const bool is_name = !place.empty() && is_name_start(place.front()) && std::ranges::all_of(place, is_name_part);
    if (!is_name)
      throw std::invalid_argument(fmt::format("[{}] is no variable, and no register with its address", visible_name(place)));
    return number_expr(address_of(program_.variable(place)));
  }

  static Expr value_of(const Operand& operand) {
    if (operand.kind == Operand::Kind::memory) throw std::invalid_argument("an instruction has at most one place in memory");
    return operand.kind == Operand::Kind::reg ? register_expr(operand.reg) : operand.value;
  }

  // [place] = value(old); returns the register that holds the old value.
  int update(const Operand& place, const std::function<Expr(const Expr&)>& value, bool is_locked) {
    const int old = out_.hidden("old");
    const Tags tags = is_locked ? tag(Tag::locked) : 0;
    out_.add({.kind = Instruction::Kind::update,
              .target = old,
              .address = place.value,
              .value = value(register_expr(old)),
              .tags = tags,
              .store_tags = tags,
              .failed_tags = tags,
              .is_two_instructions = !is_locked});
    return old;
  }

  // to = value(to), in a register or in memory.
  void change(const Operand& to, const std::function<Expr(const Expr&)>& value, bool is_locked) {
    if (to.kind == Operand::Kind::constant) throw std::invalid_argument("a constant can't be changed");
    if (to.kind == Operand::Kind::memory) {
      const int old = update(to, value, is_locked);
      return set_flags(value(register_expr(old)), number_expr(0));
    }
    if (is_locked) throw std::invalid_argument("LOCK needs a place in memory");
    out_.assign(to.reg, value(register_expr(to.reg)));
    set_flags(register_expr(to.reg), number_expr(0));
  }

  bool one_operand(const std::string& name, const Operand& to, bool is_locked) {
    if (name != "INC" && name != "DEC" && name != "NEG" && name != "NOT") return false;
    change(
        to,
        [&name](const Expr& old) {
          if (name == "NEG" || name == "NOT") return unary_expr(name == "NEG" ? Op::negate : Op::invert, old);
          return binary_expr(name == "INC" ? Op::add : Op::subtract, old, number_expr(1));
        },
        is_locked);
    return true;
  }

  bool two_operands(const std::string& name, const Operand& to, const Operand& from, bool is_locked) {
    if (name == "MOV" && !is_locked) {
      move(to, from);
    } else if (name == "XCHG") {
      exchange(to, from);
    } else if (name == "XADD") {
      exchange_add(to, from, is_locked);
    } else if (name == "CMPXCHG") {
      compare_exchange(to, from, is_locked);
    } else if (name == "CMP" && !is_locked) {
      set_flags(loaded(to), loaded(from));
    } else if (name == "TEST" && !is_locked) {
      set_flags(binary_expr(Op::bit_and, loaded(to), loaded(from)), number_expr(0));
    } else if (const NamedOp* const arithmetic = find_op(kX86Arithmetic, name)) {
      const Expr value = loaded(from);
      change(
          to, [&](const Expr& old) { return binary_expr(arithmetic->op, old, value); }, is_locked);
    } else {
      return false;
    }
    return true;
  }

  // The operand's value, which is loaded first if it is in memory.
  Expr loaded(const Operand& operand) {
    if (operand.kind != Operand::Kind::memory) return value_of(operand);
    const int reg = out_.hidden("loaded");
    out_.add({.kind = Instruction::Kind::load, .target = reg, .address = operand.value});
    return register_expr(reg);
  }

  void move(const Operand& to, const Operand& from) {
    switch (to.kind) {
      case Operand::Kind::memory:
        out_.add({.kind = Instruction::Kind::store, .address = to.value, .value = value_of(from)});
        return;
      case Operand::Kind::constant: throw std::invalid_argument("a constant can't be changed");
      case Operand::Kind::reg: break;
    }
    if (from.kind == Operand::Kind::memory) {
      out_.add({.kind = Instruction::Kind::load, .target = to.reg, .address = from.value});
    } else {
      out_.assign(to.reg, value_of(from));
    }
  }

  // XCHG with memory is atomic, with LOCK or without it.
  void exchange(const Operand& one, const Operand& two) {
    const bool is_first = one.kind == Operand::Kind::memory;
    const Operand &place = is_first ? one : two, &other = is_first ? two : one;
    if (other.kind != Operand::Kind::reg) throw std::invalid_argument("XCHG needs a register");
    if (place.kind == Operand::Kind::constant) throw std::invalid_argument("a constant can't be changed");
    int old = out_.hidden("old");
    if (place.kind == Operand::Kind::memory) {
      old = update(
          place, [&](const Expr&) { return register_expr(other.reg); }, true);
    } else {
      out_.assign(old, register_expr(place.reg));
      out_.assign(place.reg, register_expr(other.reg));
    }
    out_.assign(other.reg, register_expr(old));
  }

  void exchange_add(const Operand& to, const Operand& from, bool is_locked) {
    if (from.kind != Operand::Kind::reg || to.kind != Operand::Kind::memory)
      throw std::invalid_argument("XADD needs a place in memory and a register");
    const int old = update(
        to, [&](const Expr& before) { return binary_expr(Op::add, before, register_expr(from.reg)); }, is_locked);
    set_flags(binary_expr(Op::add, register_expr(old), register_expr(from.reg)), number_expr(0));
    out_.assign(from.reg, register_expr(old));
  }

  // Compares EAX with the place; if they are equal, the place gets the register's value, otherwise EAX the place's.
  void compare_exchange(const Operand& to, const Operand& from, bool is_locked) {
    if (from.kind != Operand::Kind::reg || to.kind != Operand::Kind::memory)
      throw std::invalid_argument("CMPXCHG needs a place in memory and a register");
    const int accumulator = out_.reg("EAX"), old = out_.hidden("old");
    const Tags tags = is_locked ? tag(Tag::locked) : 0;
    out_.add({.kind = Instruction::Kind::update,
              .target = old,
              .address = to.value,
              .value = register_expr(from.reg),
              .expected = register_expr(accumulator),
              .tags = tags,
              .store_tags = tags,
              .failed_tags = tags,
              .is_two_instructions = !is_locked});
    set_flags(register_expr(accumulator), register_expr(old));
    out_.assign(accumulator, register_expr(old));
  }

  Program& program_;
  ThreadWriter out_;
};

}  // namespace

void read_x86_thread(Program& program, std::size_t thread, const std::vector<Cell>& cells) {
  X86(program, program.threads[thread]).read(cells);
}

}  // namespace linebounce::sim::litmus
