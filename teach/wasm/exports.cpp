// The functions that JavaScript calls. A fiber switch unwinds the caller's stack, and JavaScript would get the value of the
// first unwinding. So a function that may run a machine returns nothing; JavaScript fetches its results by other calls.
// lb_result() returns texts. One instance runs one machine, because a program stopped in the middle leaves data on its stack.
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "commands/steps/document.hpp"
#include "commands/steps/moments.hpp"
#include "commands/steps/recorded_steps.hpp"
#include "teach/wasm/commands.hpp"

namespace {

using namespace linebounce;

sim::RecordedSteps recorded;
std::string result;
int exit_code = 0;

constexpr int kNeverHolds = -1, kNoMoment = -2;
constexpr char kSeparator = '\x1f';

}  // namespace

// Runs an experiment. The result is its steps, as `linebounce steps` prints them.
extern "C" void lb_run(const char* file) {
  const std::string path = file;
  recorded = sim::record_steps(path);
  result = sim::steps_document(recorded);
}

// The position after the first step from `from` on at which the moment holds; kNeverHolds; kNoMoment if the text is malformed:
// the result then has the reason.
extern "C" int lb_find(const char* text, int from) {
  try {
    const auto found = sim::find_moment(recorded, text, static_cast<std::size_t>(from));
    return found ? static_cast<int>(*found) : kNeverHolds;
  } catch (const sim::MomentError& error) {
    result = error.what();
    return kNoMoment;
  }
}

// Runs a subcommand of commands.cpp. Its arguments are separated by U+001F, because typed accesses may have several lines. The
// result is the output or, if there is none, the error.
extern "C" void lb_command(const char* separated) {
  std::vector<std::string> arguments;
  std::istringstream in(separated);
  for (std::string argument; std::getline(in, argument, kSeparator);) arguments.push_back(argument);
  const teach::CommandResult done = teach::command(arguments);
  exit_code = done.exit;
  result = done.output.empty() ? done.error : done.output;
}
// The exit code of the last command.
extern "C" int lb_exit() {
  return exit_code;
}

extern "C" const char* lb_result() {
  return result.c_str();
}
extern "C" std::size_t lb_result_bytes() {
  return result.size();
}
