// Translates statements of litmus tests in C, with the Linux kernel's primitives or C11's atomic operations.
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
    if (text.find('(') == text.npos) return plain(text);
    std::string reg;
    if (const std::size_t equals = text.find('='); equals != text.npos && text.find('(') > equals) {
      reg = last_name(text.substr(0, equals));
      text = stripped(text.substr(equals + 1));
    }
    const std::size_t open = text.find('('), close = text.rfind(')');
    if (open == text.npos || close == text.npos || close < open) unknown();
    const std::string function(stripped(text.substr(0, open)));
    std::vector<std::string> operands = split_text(text.substr(open + 1, close - open - 1), ",");
    for (std::string& operand : operands) operand.erase(0, operand.find_first_not_of("*& "));
    call(reg, function, operands);
  }

 private:
  // A statement without a call: a declaration, "int r0", or plain accesses, "*x = 1" and "int r0 = *x".
  void plain(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos) {
      if (words_of(text).size() < 2 || text.find_first_of("+-/%&|^!<>[]{}.") != text.npos) unknown();
      return;
    }
    const std::string_view left = stripped(text.substr(0, equals)), right = stripped(text.substr(equals + 1));
    if (left.starts_with('*')) {
      builder_->store(last_name(left), value_of(std::string(right)), false);
    } else if (right.starts_with('*')) {
      builder_->load(last_name(left), last_name(right), false);
    } else {
      const Held value = value_of(std::string(right));
      if (value.what == Held::What::nothing) unknown();
      builder_->held(last_name(left)) = value;
    }
  }

  [[noreturn]] static void unknown() {
    throw std::invalid_argument(
        "known are READ_ONCE, WRITE_ONCE, smp_mb, smp_rmb, smp_wmb, smp_load_acquire, smp_store_release, smp_store_mb, "
        "rcu_assign_pointer, rcu_dereference, atomic_read, atomic_set and xchg; and of C11 atomic_load, atomic_store and "
        "atomic_exchange, also with _explicit, and atomic_thread_fence");
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
    if (is({"barrier", "atomic_signal_fence"})) return;  // affects only the compiler
    c11(reg, function, operands);
  }

  void c11(const std::string& reg, std::string_view function, std::vector<std::string> operands) {
    constexpr std::string_view kExplicit = "_explicit";
    std::string order = "memory_order_seq_cst";
    const bool is_explicit = function.ends_with(kExplicit), is_fence = function == "atomic_thread_fence";
    if (is_explicit) function.remove_suffix(kExplicit.size());
    if (is_explicit || is_fence) {
      if (operands.empty()) unknown();
      order = operands.back();
      operands.pop_back();
    }
    const auto has = [&order](std::string_view word) { return order.find(word) != order.npos; };
    const bool is_total = has("seq_cst"), is_both = is_total || has("acq_rel");
    const bool acquires = is_both || has("acquire") || has("consume"), releases = is_both || has("release");
    if (!acquires && !releases && !has("relaxed")) unknown();
    builder_->set_of_c11();
    if (function == "atomic_load" && !reg.empty() && operands.size() == 1) return builder_->load(reg, operands[0], acquires);
    if (function == "atomic_exchange" && !reg.empty() && operands.size() == 2)
      return builder_->exchange(reg, operands[0], value_of(operands[1]));
    if (function == "atomic_store" && operands.size() == 2) {
      builder_->store(operands[0], value_of(operands[1]), releases);
      if (is_total) builder_->fence();  // a later seq_cst load is not performed before
      return;
    }
    if (!is_fence || !operands.empty()) unknown();
    if (is_total) return builder_->fence();
    if (!has("relaxed")) builder_->partial_fence();
  }

  TestBuilder* builder_;
};

}  // namespace

void kernel_statement(TestBuilder& builder, std::string_view text) {
  LinuxC(builder).statement(text);
}

}  // namespace linebounce::sim
