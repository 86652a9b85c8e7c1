// Translates x86 instructions of litmus tests. Operands are in Intel's order, unless % or parentheses show that the syntax is
// AT&T's.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "sim/sources/line_file.hpp"
#include "sim/sources/litmus_builder.hpp"

namespace linebounce::sim {

// Returns the 32-bit name of a register: EAX for RAX, EAX, AX and %eax.
std::string x86_register(std::string_view text) {
  if (text.starts_with('%')) text.remove_prefix(1);
  const std::string name = upper(text);
  constexpr std::array<std::string_view, 8> kNames = {"AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP"};
  for (const std::string_view one : kNames) {
    if (name == one || (name.size() == 3 && name.substr(1) == one && (name[0] == 'E' || name[0] == 'R')))
      return "E" + std::string(one);
  }
  const bool numbered = name.size() >= 2 && name[0] == 'R' && name[1] >= '0' && name[1] <= '9';
  return numbered ? name.substr(0, name.find_last_of("0123456789") + 1) : "";
}

namespace {

// Returns the text in a memory operand: x for [x] and (x). Empty if it is not a memory operand.
std::string x86_place(std::string_view text) {
  if (text.size() < 3 || (text.front() != '[' && text.front() != '(')) return "";
  return std::string(stripped(text.substr(1, text.size() - 2)));
}

class X86 {
 public:
  explicit X86(TestBuilder& builder) : builder_(&builder) {}

  void instruction(std::string_view text) {
    const std::string_view word = take_word(text);
    std::string name = upper(word);
    std::vector<std::string> operands = split_text(text, ",");
    const bool is_att = text.find('%') != text.npos || text.find('(') != text.npos;
    if (is_att) {
      std::ranges::reverse(operands);
      if ((name.starts_with("MOV") || name.starts_with("XCHG")) && name.size() > 3 &&
          std::string_view("BWLQ").find(name.back()) != std::string_view::npos)
        name.pop_back();
    }
    if (name == "MFENCE") {
      builder_->fence();
    } else if (name == "LFENCE" || name == "SFENCE") {
      return;  // on write-back memory, these order nothing that x86-TSO does not order anyway
    } else if (name == "MOV" && operands.size() == 2) {
      move(operands[0], operands[1]);
    } else if (name == "XCHG" && operands.size() == 2) {
      const bool memory_first = !x86_place(operands[0]).empty();
      exchange(operands[memory_first ? 0 : 1], operands[memory_first ? 1 : 0]);
    } else {
      throw std::invalid_argument("known are MOV, XCHG, MFENCE, LFENCE and SFENCE");
    }
  }

 private:
  Held value_of(const std::string& text) {
    const auto number = litmus_number(text.starts_with('$') ? std::string_view(text).substr(1) : std::string_view(text));
    if (number) return {Held::What::constant, "", *number};
    const std::string reg = x86_register(text);
    if (reg.empty()) throw std::invalid_argument(text + " is neither a register nor a number");
    return builder_->held(reg);
  }

  // Returns the variable of a memory operand, which is its name or a register that contains its address.
  std::string variable_at(const std::string& place) {
    const std::string reg = x86_register(place);
    if (reg.empty()) return place;
    const Held& address = builder_->held(reg);
    if (address.what != Held::What::address) throw std::invalid_argument(place + " does not hold a variable's address");
    return address.name;
  }

  void move(const std::string& to, const std::string& from) {
    if (const std::string place = x86_place(to); !place.empty())
      return builder_->store(variable_at(place), value_of(from), false);
    const std::string reg = x86_register(to);
    if (reg.empty()) throw std::invalid_argument(to + " is neither a register nor a memory operand");
    if (const std::string place = x86_place(from); !place.empty()) {
      builder_->load(reg, variable_at(place), false);
    } else {
      const Held value = value_of(from);
      builder_->held(reg) = value;
    }
  }

  void exchange(const std::string& memory, const std::string& other) {
    const std::string reg = x86_register(other), place = x86_place(memory);
    if (reg.empty() || place.empty()) throw std::invalid_argument("XCHG needs a register and a memory operand");
    const Held value = builder_->held(reg);
    builder_->exchange(reg, variable_at(place), value);
  }

  TestBuilder* builder_;
};

}  // namespace

void x86_instruction(TestBuilder& builder, std::string_view text) {
  X86(builder).instruction(text);
}

}  // namespace linebounce::sim
