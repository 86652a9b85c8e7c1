// Translates AArch64 instructions of litmus tests.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "sim/sources/line_file.hpp"
#include "sim/sources/litmus_builder.hpp"

namespace linebounce::sim {

// Returns the 64-bit name of a register: X0 for W0 and X0.
std::string aarch64_register(std::string_view text) {
  const std::string name = upper(text);
  if (name.size() < 2 || (name[0] != 'W' && name[0] != 'X') || !decimal(std::string_view(name).substr(1))) return "";
  return "X" + name.substr(1);
}

namespace {

class AArch64 {
 public:
  explicit AArch64(TestBuilder& builder) : builder_(&builder) {}

  void instruction(std::string_view text) {
    const std::string name = upper(take_word(text));
    std::vector<std::string> operands = split_text(text, ",");
    if (operands.size() == 3 && operands[1].starts_with('[') && operands[2] == "#0]") operands.pop_back();  // [X1,#0]
    if (name == "DMB" || name == "DSB") {
      const std::string which = upper(operands[0]);
      const bool is_partial = which.ends_with("LD") || which.ends_with("ST");
      const std::string domain = is_partial ? which.substr(0, which.size() - 2) : which;
      if (domain != "ISH" && domain != "OSH" && domain != "NSH" && domain != (is_partial ? "" : "SY"))
        throw std::invalid_argument("known barriers are DMB SY, ISH, OSH and NSH, and these with LD and ST");
      is_partial ? builder_->partial_fence() : builder_->fence();
    } else if (name == "MOV" && operands.size() == 2) {
      const auto number = litmus_number(operands[1].starts_with('#') ? operands[1].substr(1) : operands[1]);
      const Held value = number ? Held{Held::What::constant, "", *number} : held_in(operands[1]);
      builder_->held(reg(operands[0])) = value;
    } else if (name == "EOR" && operands.size() == 3 && aarch64_register(operands[1]) == aarch64_register(operands[2])) {
      const Held value = held_in(operands[1]);
      if (value.what != Held::What::loaded) throw std::invalid_argument("EOR of a value that was not loaded");
      builder_->held(reg(operands[0])) = {Held::What::zero_of, "", value.number};
    } else if ((name == "LDR" || name == "LDAR" || name == "LDAPR") && operands.size() >= 2) {
      load(operands, name != "LDR");
    } else if ((name == "STR" || name == "STLR") && operands.size() == 2) {
      builder_->store(variable_at(operands[1]), held_in(operands[0]), name == "STLR");
    } else {
      throw std::invalid_argument("known are MOV, EOR, LDR, LDAR, LDAPR, STR, STLR and DMB");
    }
  }

 private:
  static std::string reg(const std::string& text) {
    std::string name = aarch64_register(text);
    if (name.empty()) throw std::invalid_argument(text + " is not a register");
    return name;
  }
  Held held_in(const std::string& text) {
    if (upper(text) == "WZR" || upper(text) == "XZR") return {Held::What::constant, "", 0};
    return builder_->held(reg(text));
  }
  std::string variable_at(const std::string& place) {
    if (place.size() < 3 || place.front() != '[') throw std::invalid_argument("expected [REGISTER]");
    std::string_view inside = std::string_view(place).substr(1);
    if (inside.ends_with(']')) inside.remove_suffix(1);
    const Held& address = builder_->held(reg(std::string(stripped(inside))));
    if (address.what != Held::What::address) throw std::invalid_argument(place + " does not hold a variable's address");
    return address.name;
  }

  // Translates "LDR W1,[X2]" and "LDR W1,[X2,W3,SXTW]". The latter is an address dependency: W3 is always 0, but computed
  // from a loaded value.
  void load(const std::vector<std::string>& operands, bool acquires) {
    std::optional<int> after;
    if (operands.size() > 2) {
      std::string index = operands[2];
      if (index.ends_with(']')) index.pop_back();
      const Held& zero = builder_->held(reg(index));
      if (zero.what != Held::What::zero_of) throw std::invalid_argument("the offset is not 0");
      after = zero.number;
    }
    const std::string variable = variable_at(operands[1]);
    builder_->load(reg(operands[0]), variable, acquires, after);
  }

  TestBuilder* builder_;
};

}  // namespace

void aarch64_instruction(TestBuilder& builder, std::string_view text) {
  AArch64(builder).instruction(text);
}

}  // namespace linebounce::sim
