// Runs `check`, `check-lock` and `steps --accesses` as on the command line; their output is the result.
#include "teach/wasm/commands.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <sstream>

#include "commands/check/check_random.hpp"
#include "commands/common/command.hpp"
#include "models/listed.hpp"
#include "sim/plan/process_pool.hpp"

namespace linebounce::sim {

void add_subcommands(Command& program) {
  LISTED(AddSubcommand, add_check)(program);
  LISTED(AddSubcommand, add_check_lock)(program);
  LISTED(AddSubcommand, add_steps)(program);
}

}  // namespace linebounce::sim

namespace linebounce::teach {

using namespace sim;

CommandResult command(const std::vector<std::string>& arguments) {
  std::ostringstream out, said;
  std::streambuf* const usual = std::cout.rdbuf(out.rdbuf());
  std::streambuf* const usual_errors = std::cerr.rdbuf(said.rdbuf());
  CommandResult result;
  try {
    Invocation invocation{.argv = arguments, .action = {}};
    CLI::App program("", "linebounce");
    Command commands(program, invocation);
    add_subcommands(commands);
    std::vector<std::string> backwards(arguments.rbegin(), arguments.rend());
    program.parse(backwards);
    if (invocation.action) result.exit = static_cast<int>(invocation.action());
  } catch (const CLI::ParseError& error) {
    result = {static_cast<int>(ExitCode::usage), "", error.what()};
  } catch (...) {
    const Failure failure = describe_current_exception();
    result = {static_cast<int>(failure.code), "", failure.message};
  }
  std::cout.rdbuf(usual);
  std::cerr.rdbuf(usual_errors);
  result.output = out.str();
  if (result.error.empty()) result.error = said.str();
  return result;
}

}  // namespace linebounce::teach

namespace linebounce::sim {

// Runs jobs in this process, one after the other, because simulations leave nothing behind here.
void exit_on_interrupts() {}
struct InterruptGuard::Saved {};
InterruptGuard::InterruptGuard() : saved_(nullptr), descriptor_(-1) {}
InterruptGuard::~InterruptGuard() = default;
bool InterruptGuard::interrupted() {
  return false;
}
void InterruptGuard::restore_in_child() const {}

void run_in_processes(int count, int, InterruptGuard&, const PoolCallbacks& callbacks) {
  for (int job = 0; job < count; ++job) {
    JobOutcome outcome;
    try {
      callbacks.work(job, [](double) {});
    } catch (...) {
      outcome.failure = describe_current_exception();
    }
    if (!callbacks.finished(job, outcome)) return;
  }
}

// Random tests of a machine need processes and time, so only the program has them.
const char* const kRandomFooter = "";
bool RandomArguments::wanted(const std::string&) const {
  return false;
}
std::shared_ptr<RandomArguments> add_random_options(Command&) {
  return std::make_shared<RandomArguments>();
}
ExitCode check_random(const RandomArguments&) {
  return ExitCode::usage;
}

}  // namespace linebounce::sim
