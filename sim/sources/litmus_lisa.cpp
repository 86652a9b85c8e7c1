// Translates LISA, the language of herd's generic litmus tests: "r[acquire] r1 x", "w[once] x 1", "f[mb]". The words in
// brackets are names of the Linux kernel's primitives.
#include <stdexcept>

#include "sim/sources/line_file.hpp"
#include "sim/sources/litmus_builder.hpp"

namespace linebounce::sim {
namespace {

Held lisa_value(TestBuilder& builder, const std::string& text) {
  if (const auto number = litmus_number(text)) return {Held::What::constant, "", *number};
  return builder.held(text);
}

// Returns the variable that the text names, directly or as a register that contains its address.
std::string lisa_variable(TestBuilder& builder, const std::string& text) {
  const Held& held = builder.held(text);
  if (held.what == Held::What::address) return held.name;
  if (held.what != Held::What::nothing) throw std::invalid_argument("an address that was loaded or computed");
  return text;
}

}  // namespace

void lisa_instruction(TestBuilder& builder, std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  const std::string_view word = words.front();
  const std::size_t open = word.find('['), close = word.find(']');
  const std::string_view name = word.substr(0, open);
  const std::string_view order = open == word.npos || close == word.npos ? "" : word.substr(open + 1, close - open - 1);
  const bool plain = order.empty() || order == "once";
  const auto operand = [&](std::size_t at) { return std::string(words[at]); };
  if (name == "r" && words.size() == 3 && (plain || order == "acquire" || order == "deref" || order == "lderef")) {
    builder.load(operand(1), lisa_variable(builder, operand(2)), order == "acquire");
  } else if (name == "w" && words.size() == 3 && (plain || order == "release" || order == "assign")) {
    builder.store(lisa_variable(builder, operand(1)), lisa_value(builder, operand(2)), !plain);
  } else if (name == "f" && words.size() == 1 && order == "mb") {
    builder.fence();
  } else if (name == "f" && words.size() == 1 && (order == "rmb" || order == "wmb")) {
    builder.partial_fence();
  } else if (name == "mov" && words.size() == 3) {
    const Held value = lisa_value(builder, operand(2));
    builder.held(operand(1)) = value;
  } else {
    throw std::invalid_argument(
        "known are r[], w[], f[mb], f[rmb], f[wmb] and mov, with once, acquire, release, deref and assign in brackets");
  }
}

}  // namespace linebounce::sim
