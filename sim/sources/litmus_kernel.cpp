// Translates statements of litmus tests in C with the Linux kernel's primitives.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "sim/sources/line_file.hpp"
#include "sim/sources/litmus_builder.hpp"

namespace linebounce::sim {

namespace {

class LinuxC {
 public:
  explicit LinuxC(TestBuilder& builder) : builder_(&builder) {}

  void statement(std::string_view text) {
    text = stripped(text);
    if (text.empty()) return;
    std::string reg;
    if (const std::size_t equals = text.find('='); equals != text.npos && text.find('(') > equals) {
      reg = last_name(text.substr(0, equals));
      text = stripped(text.substr(equals + 1));
    } else if (text.find('(') == text.npos) {
      return;  // a declaration
    }
    const std::size_t open = text.find('('), close = text.rfind(')');
    if (open == text.npos || close == text.npos || close < open) unknown();
    const std::string function(stripped(text.substr(0, open)));
    std::vector<std::string> operands = split_text(text.substr(open + 1, close - open - 1), ",");
    for (std::string& operand : operands) operand.erase(0, operand.find_first_not_of("*& "));
    call(reg, function, operands);
  }

 private:
  [[noreturn]] static void unknown() {
    throw std::invalid_argument(
        "known are READ_ONCE, WRITE_ONCE, smp_mb, smp_rmb, smp_wmb, smp_load_acquire, smp_store_release, smp_store_mb, "
        "rcu_assign_pointer, rcu_dereference, atomic_read, atomic_set and xchg");
  }

  static std::string last_name(std::string_view text) {
    text = stripped(text);
    const std::size_t before = text.find_last_of(" \t*");
    return std::string(text.substr(before == text.npos ? 0 : before + 1));
  }

  Held value_of(const std::string& text) {
    if (const auto number = litmus_number(text)) return {Held::What::constant, "", *number};
    return builder_->held(text);
  }

  void call(const std::string& reg, const std::string& function, const std::vector<std::string>& operands) {
    const auto is = [&function](std::initializer_list<std::string_view> names) {
      return std::ranges::find(names, function) != names.end();
    };
    const bool acquires = is({"smp_load_acquire", "atomic_read_acquire"}),
               releases = is({"smp_store_release", "atomic_set_release", "rcu_assign_pointer"});
    if ((acquires || is({"READ_ONCE", "atomic_read", "rcu_dereference"})) && !reg.empty() && operands.size() == 1)
      return builder_->load(reg, operands[0], acquires);
    const bool then_fence = is({"smp_store_mb"});
    if ((releases || then_fence || is({"WRITE_ONCE", "atomic_set"})) && operands.size() == 2) {
      builder_->store(operands[0], value_of(operands[1]), releases);
      if (then_fence) builder_->fence();
      return;
    }
    if (is({"xchg", "atomic_xchg"}) && !reg.empty() && operands.size() == 2)
      return builder_->exchange(reg, operands[0], value_of(operands[1]));
    if (is({"smp_mb", "smp_mb__before_atomic", "smp_mb__after_atomic"})) return builder_->fence();
    if (is({"smp_rmb", "smp_wmb"})) return builder_->partial_fence();
    if (is({"barrier"})) return;  // affects only the compiler
    unknown();
  }

  TestBuilder* builder_;
};

}  // namespace

void kernel_statement(TestBuilder& builder, std::string_view text) {
  LinuxC(builder).statement(text);
}

}  // namespace linebounce::sim
