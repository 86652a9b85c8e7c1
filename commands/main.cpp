#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <string_view>

#include "commands/command_line.hpp"
#include "sim/plan/exit_code.hpp"
#include "trace/stack_limit.hpp"

namespace {

// Reports a failed allocation that no code can catch: before main(), while static objects are made, or in a noexcept function
// of the C++ library, such as a directory iterator's. Sets the exit code.
std::terminate_handler before = nullptr;
[[noreturn]] void terminated() {
  constexpr std::string_view kText = "linebounce: the memory ran out: try a smaller -j; ulimit -v may limit it\n";
  try {
    if (const std::exception_ptr why = std::current_exception()) std::rethrow_exception(why);
  } catch (const std::bad_alloc&) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kText.data(), kText.size());
    ::_exit(static_cast<int>(linebounce::sim::ExitCode::simulation_failed));
  } catch (...) {  // any other exception ends the program in the default way
  }
  before();
  std::abort();
}

struct FromTheBeginning {
  FromTheBeginning() { before = std::set_terminate(terminated); }
};
[[gnu::init_priority(101)]] const FromTheBeginning kFromTheBeginning;

}  // namespace

int main(int argc, char** argv) {
  if (const std::string problem = linebounce::trace::stack_problem(); !problem.empty()) {
    std::cerr << "linebounce: " << problem << "\n";
    return static_cast<int>(linebounce::sim::ExitCode::simulation_failed);  // as for the memory
  }
  return linebounce::sim::run_command_line(argc, argv);
}
