// What JavaScript calls. Fibers unwind the stack of whoever called, and what JavaScript gets as a value is that of the first
// unwinding: a function that may run a machine returns nothing, and is asked behind it. Texts are those of lb_result().
// One instance runs one machine: a program that is left in the middle leaves what stands on its stack.
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "sim/steps/document.hpp"
#include "sim/steps/moments.hpp"
#include "sim/steps/recorded_steps.hpp"
#include "teach/wasm/commands.hpp"

namespace {

using namespace linebounce;

sim::RecordedSteps recorded;
std::string result;
int exit_code = 0;

constexpr int kNeverHolds = -1, kNoMoment = -2;

}  // namespace

// Runs an experiment. The result: its steps, as `linebounce steps` prints them.
extern "C" void lb_run(const char* file) {
  const std::string path = file;
  recorded = sim::record_steps(path);
  result = sim::steps_document(recorded);
}

// The position in the run behind the first step from `from` on at which the moment holds; kNeverHolds; kNoMoment: the result
// says why the text is none.
extern "C" int lb_find(const char* text, int from) {
  try {
    const auto found = sim::find_moment(recorded, text, static_cast<std::size_t>(from));
    return found ? static_cast<int>(*found) : kNeverHolds;
  } catch (const sim::MomentError& error) {
    result = error.what();
    return kNoMoment;
  }
}

// `check` or `check-lock`: its arguments, a line each. The result is what it prints; where it prints nothing, its error.
extern "C" void lb_command(const char* lines) {
  std::vector<std::string> arguments;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) arguments.push_back(line);
  const teach::CommandResult done = teach::command(arguments);
  exit_code = done.exit;
  result = done.output.empty() ? done.error : done.output;
}
// Its exit code.
extern "C" int lb_exit() {
  return exit_code;
}

extern "C" const char* lb_result() {
  return result.c_str();
}
extern "C" std::size_t lb_result_bytes() {
  return result.size();
}
