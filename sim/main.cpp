#include <unistd.h>

#include <cstdlib>
#include <new>
#include <string_view>

#include "sim/commands/command_line.hpp"
#include "sim/plan/exit_code.hpp"

// SystemC's library holds a main() of its own, which prints a banner and then calls this. Ours comes first, so that neither is
// ever used, but the library does not link without it.
extern "C" int sc_main(int, char**) {
  return EXIT_FAILURE;
}

namespace {

// Static objects are made before main(), where nobody could catch std::bad_alloc.
[[noreturn]] void no_memory_to_begin() {
  constexpr std::string_view kText = "linebounce: the memory ran out before anything began; ulimit -v may limit it\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kText.data(), kText.size());
  ::_exit(static_cast<int>(linebounce::sim::ExitCode::simulation_failed));
}

struct UntilMain {
  UntilMain() { std::set_new_handler(no_memory_to_begin); }
};
[[gnu::init_priority(101)]] const UntilMain kUntilMain;

}  // namespace

int main(int argc, char** argv) {
  std::set_new_handler(nullptr);
  return linebounce::sim::run_command_line(argc, argv);
}
