// A subcommand and its options. No other header includes CLI11, which adds seconds to the compile time of each unit.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
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

// The part of --help in which a subcommand stands.
enum class HelpGroup { runs, results, programs, checks, machines, publications, teaching };
// Its heading.
std::string title(HelpGroup group);

// A command for users to try first, as the program's --help shows it.
struct FirstExample {
  HelpGroup group;
  std::string_view command, meaning;
};

// A parsed command line, and the chosen subcommand's action, which runs after all options were checked.
struct Invocation {
  std::vector<std::string> argv;
  std::function<ExitCode()> action;
  // Checked before the action. Each returns what is wrong with a combination of options, or an empty text.
  std::vector<std::function<std::string()>> conditions;
  std::vector<FirstExample> first_examples;
};

// Where an option's value is stored; unchanged if the option isn't given. A vector collects the values of a repeated option.
using OptionTarget =
    std::variant<std::string*, int*, std::int64_t*, std::uint64_t*, double*, std::optional<int>*, std::optional<std::int64_t>*,
                 std::optional<double>*, std::vector<std::string>*, std::vector<int>*>;

class Option {
 public:
  // An option of a command that was not invoked. Its functions do nothing.
  Option() = default;
  Option(CLI::App& app, CLI::Option& option, Invocation& invocation) : app_(&app), option_(&option), invocation_(&invocation) {}

  Option& required();
  // Takes one value for each occurrence: accepts `--set A --set B`. With `--set A B`, B is a word of its own.
  Option& one_value_each();
  Option& one_of(const std::vector<std::string>& words);
  Option& between(std::int64_t least, std::int64_t most);
  Option& between_reals(double least, double most);  // NaN is outside
  // `problem`: returns what is wrong with a value, or an empty text.
  Option& check(const std::function<std::string(std::string)>& problem);
  Option& group(const std::string& title);  // the heading in --help
  // Refuses this option unless one of `owners` ("--recheck") is given, because it would have no effect.
  Option& belongs_to(const std::vector<std::string>& owners);
  // Refuses this option beside one of `others`, with which it would have no effect.
  Option& excludes(const std::vector<std::string>& others);
  // The value is a directory to write into. Refuses one with files that Linebounce did not make, before the command reads or
  // writes anything (sim/results/own_directory.hpp).
  // Refuses a file, and a name with the ending of one.
  Option& own_directory();
  // The value is a file to write. Refuses, before the command does anything, a name that ends otherwise than its content: names
  // without an ending, devices and pipes pass. `what`: the content, "a machine file"; `endings`: ".toml".
  Option& output_file(const std::string& what, const std::vector<std::string>& endings);
  // The values are PATH=VALUE. Takes one for each occurrence, and refuses two values for one path.
  Option& settings();

 private:
  CLI::App* app_ = nullptr;
  CLI::Option* option_ = nullptr;
  Invocation* invocation_ = nullptr;
};

// A command. Options are created only for the invoked command, because creating all would take a third of the instructions of a
// start.
class Command {
 public:
  Command(CLI::App& app, Invocation& invocation) : app_(&app), invocation_(&invocation) {}

  Command subcommand(const std::string& name, const std::string& meaning, HelpGroup group);  // of the program
  Command child(const std::string& name, const std::string& meaning);                        // of a subcommand
  // Refuses a command line that names none of this command's subcommands.
  void require_subcommand();

  // `name`: "-o,--output", or "TRACE" for a positional argument. `value`: what --help shows behind the name; may be empty.
  Option option(const std::string& name, const std::string& value, OptionTarget target, const std::string& meaning);
  Option flag(const std::string& name, bool& target, const std::string& meaning);
  void footer(const std::string& text);
  // Shows `command` among the few examples of the program's --help. REQUIRES: a subcommand of the program; literals.
  void try_first(std::string_view command, std::string_view meaning);

  // `complete` runs once all options are parsed, to set defaults that depend on other options.
  void when_parsed(const std::function<void()>& complete);
  // Sets the action of this subcommand.
  void action(const std::function<ExitCode()>& action);
  void action(const std::function<ExitCode(const std::vector<std::string>& argv)>& action);

 private:
  Command(CLI::App& app, Invocation& invocation, bool named) : app_(&app), invocation_(&invocation), named_(named) {}

  CLI::App* app_;
  Invocation* invocation_;
  bool named_ = true;  // among the invocation's arguments
  HelpGroup group_{};  // of a subcommand of the program
};

// The signature of add_NAME() in each subcommand's file, which adds the subcommand to its parent: the program or a command.
using AddSubcommand = void(Command&);

}  // namespace linebounce::sim
