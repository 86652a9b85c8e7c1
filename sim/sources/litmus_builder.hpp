// A builder that litmus tests of all architectures share. It adds statements to a test and tracks what registers contain.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/sources/litmus_text.hpp"

namespace linebounce::sim {

// What a register of the test contains.
struct Held {
  enum class What : std::uint8_t { nothing, address, constant, loaded, zero_of } what = What::nothing;
  std::string name;  // address: the variable
  int number = 0;    // constant: its value; loaded and zero_of: the number of the register in Linebounce's test
};

// All functions: std::invalid_argument for anything that Linebounce's tests can't express.
class TestBuilder {
 public:
  explicit TestBuilder(HerdTest& test) : test_(&test) {}

  // Statements that are added from now on belong to this thread.
  void begin_thread(int number);
  Held& held(const std::string& reg) { return registers_[{thread_, reg}]; }
  // What the register contains at the end; nullptr if it was never written.
  [[nodiscard]] const Held* final_value(int thread, const std::string& reg) const;
  // The letter that stands for this variable in Linebounce's test.
  char letter(const std::string& name);

  void load(const std::string& reg, const std::string& variable, bool acquires, std::optional<int> after = std::nullopt);
  void store(const std::string& variable, const Held& value, bool releases);
  // Stores `value`; the register receives the variable's old value.
  void exchange(const std::string& reg, const std::string& variable, const Held& value);
  void fence() { statement("fence"); }
  // Adds a barrier for only loads or only stores. It becomes a full fence, which orders more.
  void partial_fence();
  void set_of_c11() { test_->is_of_c11 = true; }

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
// Splits at any of the separators. Removes blanks at the ends of the parts.
std::vector<std::string> split_text(std::string_view text, std::string_view separators);
// Parses a number from 0 to 1,000,000, decimal or 0x...; none for any other text.
std::optional<int> litmus_number(std::string_view text);

// ---- translation of one instruction or statement ----

void x86_instruction(TestBuilder& builder, std::string_view text);
void aarch64_instruction(TestBuilder& builder, std::string_view text);
void lisa_instruction(TestBuilder& builder, std::string_view text);
// Translates a statement of C with the Linux kernel's primitives.
void kernel_statement(TestBuilder& builder, std::string_view text);

// The name of a register, whatever the width in the instruction; empty if the text is not a register.
std::string x86_register(std::string_view text);
std::string aarch64_register(std::string_view text);

}  // namespace linebounce::sim
