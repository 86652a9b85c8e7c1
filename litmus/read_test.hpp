// Reads litmus tests in herd's format (.litmus).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "litmus/program.hpp"

namespace linebounce::sim::litmus {

inline constexpr std::size_t kMostTestThreads = 32;

// `file`: for messages. Errors: trace::TraceError with the line, if the text is no such test, or uses something that has no
// counterpart here.
Program read_test(const std::string& text, const std::string& file);

// ---- For the readers of one language each. Errors: std::invalid_argument, saying what can't be expressed or was expected ----

// An instruction of a thread, as it stands in the thread's column.
struct Cell {
  std::string text;
  int line = 0;
};

// Translates a thread's column.
void read_x86_thread(Program& program, std::size_t thread, const std::vector<Cell>& cells);
void read_aarch64_thread(Program& program, std::size_t thread, const std::vector<Cell>& cells);
void read_lisa_thread(Program& program, std::size_t thread, const std::vector<Cell>& cells);
// Reads functions P0(...) { ... }. `line`: of the text's beginning. Errors name the line.
void read_c_functions(Program& program, std::string_view text, int line);

// The name of a register, whatever the width in the instruction: EAX for RAX, X0 for W0. Empty if the text is not a register.
std::string x86_register(std::string_view text);
std::string aarch64_register(std::string_view text);

// An error in a line of the test.
[[noreturn]] void refuse_line(int line, const std::string& text);

}  // namespace linebounce::sim::litmus
