// A subcommand and its options. Only this file includes CLI11, whose header adds seconds to each unit's compile time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "sim/plan/exit_code.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
class Option;
}  // namespace CLI

namespace linebounce::sim {

// Contradictory options: exit code 2, with a pointer to --help. what() is one sentence.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A parsed command line, and the subcommand's action, which runs once its options are known to be legal.
struct Invocation {
  std::vector<std::string> argv;
  std::function<ExitCode()> action;
};

// The destination of an option's value; keeps its content if the option isn't given. Vectors take an option that is repeated.
using OptionTarget =
    std::variant<std::string*, int*, std::int64_t*, std::uint64_t*, double*, std::optional<int>*, std::optional<std::int64_t>*,
                 std::optional<double>*, std::vector<std::string>*, std::vector<int>*>;

class Option {
 public:
  // Null if the invocation names another command; the option then does nothing.
  explicit Option(CLI::Option* option) : option_(option) {}

  Option& required();
  // Allows `--set A --set B`, but not `--set A B`, which would swallow the following words.
  Option& one_value_each();
  Option& one_of(const std::vector<std::string>& words);
  Option& between(std::int64_t least, std::int64_t most);
  Option& between_reals(double least, double most);  // NaN is outside
  // `problem` describes what is wrong with a value, or returns an empty text.
  Option& check(const std::function<std::string(std::string)>& problem);
  Option& group(const std::string& title);  // the heading in --help

 private:
  CLI::Option* option_;
};

// A command. Options are only created for commands that the invocation names: creating all of them would take a third of the
// instructions of a start.
class Command {
 public:
  Command(CLI::App& app, Invocation& invocation) : app_(&app), invocation_(&invocation) {}

  Command subcommand(const std::string& name, const std::string& meaning);
  // Makes it an error to give none of its subcommands.
  void require_subcommand();

  // `name` is "-o,--output", or "TRACE" for a positional. `value` is what --help shows after it; may be empty.
  Option option(const std::string& name, const std::string& value, OptionTarget target, const std::string& meaning);
  void flag(const std::string& name, bool& target, const std::string& meaning);
  void footer(const std::string& text);

  // Calls `complete` after all options have been parsed, to set defaults that depend on other options.
  void when_parsed(const std::function<void()>& complete);
  // Sets the action of this subcommand.
  void action(const std::function<ExitCode()>& action);
  void action(const std::function<ExitCode(const std::vector<std::string>& argv)>& action);

 private:
  Command(CLI::App& app, Invocation& invocation, bool named) : app_(&app), invocation_(&invocation), named_(named) {}

  CLI::App* app_;
  Invocation* invocation_;
  bool named_ = true;  // among the invocation's arguments
};

// The type of add_NAME(), which each subcommand's file defines. It adds the subcommand to the program or to its parent
// command.
using AddSubcommand = void(Command&);

}  // namespace linebounce::sim
