// A subcommand and its options: the one place that knows CLI11, whose header costs seconds in each unit that includes it.
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

// Options that contradict each other: exit code 2, with a pointer to --help. what() is one sentence.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A parsed command line: what a subcommand wants done, once its options are known to be right.
struct Invocation {
  std::vector<std::string> argv;
  std::function<ExitCode()> action;
};

// Where an option's value goes; it keeps what it holds if the option isn't given. Vectors take an option that is repeated.
using OptionTarget =
    std::variant<std::string*, int*, std::int64_t*, std::uint64_t*, double*, std::optional<int>*, std::optional<std::int64_t>*,
                 std::optional<double>*, std::vector<std::string>*, std::vector<int>*>;

class Option {
 public:
  // Null: of a command that this invocation does not name. Then there is nothing to set.
  explicit Option(CLI::Option* option) : option_(option) {}

  Option& required();
  // `--set A --set B`, and never `--set A B`, which would swallow what follows.
  Option& one_value_each();
  Option& one_of(const std::vector<std::string>& words);
  Option& between(std::int64_t least, std::int64_t most);
  Option& between_reals(double least, double most);  // NaN is outside
  // `problem` says what is wrong with a value; empty: nothing.
  Option& check(const std::function<std::string(std::string)>& problem);
  Option& group(const std::string& title);  // the heading in --help that it stands under

 private:
  CLI::Option* option_;
};

// Only the commands that the invocation names get their options: those of all would be a third of a start's instructions.
class Command {
 public:
  Command(CLI::App& app, Invocation& invocation) : app_(&app), invocation_(&invocation) {}

  Command subcommand(const std::string& name, const std::string& meaning);
  // One of its subcommands must be given.
  void require_subcommand();

  // `name` is "-o,--output", or "TRACE" for a positional; `value` is what --help shows behind it; empty: nothing.
  Option option(const std::string& name, const std::string& value, OptionTarget target, const std::string& meaning);
  void flag(const std::string& name, bool& target, const std::string& meaning);
  void footer(const std::string& text);

  // Runs as soon as all options have been read: for defaults that depend on other options.
  void when_parsed(const std::function<void()>& complete);
  // What is done if this subcommand was chosen.
  void action(const std::function<ExitCode()>& action);
  void action(const std::function<ExitCode(const std::vector<std::string>& argv)>& action);

 private:
  Command(CLI::App& app, Invocation& invocation, bool named) : app_(&app), invocation_(&invocation), named_(named) {}

  CLI::App* app_;
  Invocation* invocation_;
  bool named_ = true;  // among the invocation's arguments
};

// What a subcommand's file defines: add_NAME(), which adds it to the program, or to the command that it is below.
using AddSubcommand = void(Command&);

}  // namespace linebounce::sim
