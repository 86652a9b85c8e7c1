// What litmus tests of all architectures share: a builder that adds statements to a test and tracks what registers contain.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/sources/litmus_text.hpp"

namespace linebounce::sim {

// Content of a thread's register.
struct Held {
  enum class What : std::uint8_t { nothing, address, constant, loaded, zero_of } what = What::nothing;
  std::string name;  // address: the variable
  int number = 0;    // constant: its value; loaded and zero_of: the number of our register
};

// Errors of all functions: std::invalid_argument for anything that Linebounce's tests can't express.
class TestBuilder {
 public:
  explicit TestBuilder(HerdTest& test) : test_(&test) {}

  // The following calls add statements to this thread.
  void begin_thread(int number);
  Held& held(const std::string& reg) { return registers_[{thread_, reg}]; }
  // Returns nullptr if the register was never written.
  [[nodiscard]] const Held* final_value(int thread, const std::string& reg) const;
  // The letter that represents a variable.
  char letter(const std::string& name);

  void load(const std::string& reg, const std::string& variable, bool acquires, std::optional<int> after = std::nullopt);
  void store(const std::string& variable, const Held& value, bool releases);
  // The register receives the variable's old value.
  void exchange(const std::string& reg, const std::string& variable, const Held& value);
  void fence() { statement("fence"); }
  // A barrier for only loads or only stores. It becomes a fence, which orders more than the barrier.
  void partial_fence();

 private:
  static std::string text_of_value(const Held& value);
  int new_register(const std::string& reg);
  void statement(const std::string& text);

  HerdTest* test_;
  int thread_ = 0;
  std::map<std::pair<int, std::string>, Held> registers_;
};

// ---- Words ----

std::string upper(std::string_view text);
// Splits at any of these characters, and strips blanks from the parts.
std::vector<std::string> split_text(std::string_view text, std::string_view separators);
// Accepts 0 to 1,000,000, decimal or 0x...
std::optional<int> litmus_number(std::string_view text);

// ---- One instruction or statement, by architecture ----

void x86_instruction(TestBuilder& builder, std::string_view text);
void aarch64_instruction(TestBuilder& builder, std::string_view text);
void lisa_instruction(TestBuilder& builder, std::string_view text);
// A statement of C with the Linux kernel's primitives.
void kernel_statement(TestBuilder& builder, std::string_view text);

// One name for a register in all its widths; empty: not a register.
std::string x86_register(std::string_view text);
std::string aarch64_register(std::string_view text);

}  // namespace linebounce::sim
