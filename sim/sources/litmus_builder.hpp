// What litmus tests of all architectures have in common: a test that is built statement by statement, and what registers hold.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/sources/litmus_text.hpp"

namespace linebounce::sim {

// What a register of a thread holds.
struct Held {
  enum class What : std::uint8_t { nothing, address, constant, loaded, zero_of } what = What::nothing;
  std::string name;  // address: the variable
  int number = 0;    // constant: its value; loaded and zero_of: the register of ours
};

// Errors of all here: std::invalid_argument, for what has no counterpart in Linebounce's tests.
class TestBuilder {
 public:
  explicit TestBuilder(HerdTest& test) : test_(&test) {}

  // What follows is this thread's.
  void begin_thread(int number);
  Held& held(const std::string& reg) { return registers_[{thread_, reg}]; }
  // nullptr: nothing was ever in it.
  [[nodiscard]] const Held* final_value(int thread, const std::string& reg) const;
  // The letter that stands for a variable.
  char letter(const std::string& name);

  void load(const std::string& reg, const std::string& variable, bool acquires, std::optional<int> after = std::nullopt);
  void store(const std::string& variable, const Held& value, bool releases);
  // The register gets what the variable held.
  void exchange(const std::string& reg, const std::string& variable, const Held& value);
  void fence() { statement("fence"); }

 private:
  static std::string text_of_value(const Held& value);
  int new_register(const std::string& reg);
  void statement(const std::string& text);

  HerdTest* test_;
  int thread_ = 0;
  std::map<std::pair<int, std::string>, Held> registers_;
};

// ---- words ----

std::string upper(std::string_view text);
// Parts between any of these characters, without blanks around them.
std::vector<std::string> split_text(std::string_view text, std::string_view separators);
// From 0 to a million, decimal or 0x...
std::optional<int> litmus_number(std::string_view text);

// ---- one instruction or statement, by architecture ----

void x86_instruction(TestBuilder& builder, std::string_view text);
void aarch64_instruction(TestBuilder& builder, std::string_view text);
// Of C with the Linux kernel's names.
void kernel_statement(TestBuilder& builder, std::string_view text);

// The one name that stands for a register in all its widths; empty: it is none.
std::string x86_register(std::string_view text);
std::string aarch64_register(std::string_view text);

}  // namespace linebounce::sim
