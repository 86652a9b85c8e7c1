#include "commands/command_line.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "commands/common/command.hpp"
#include "models/listed.hpp"
#include "models/text/spelling.hpp"
#include "models/text/text_lines.hpp"
#include "models/text/visible.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/plan/process_pool.hpp"
#include "sim/results/manifest.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/terminal/terminal.hpp"
#include "sim/terminal/visible_output.hpp"

namespace linebounce::sim {

// In the order of --help.
static void add_subcommands(Command& program) {
  LISTED(AddSubcommand, add_new)(program);
  LISTED(AddSubcommand, add_run)(program);
  LISTED(AddSubcommand, add_ab)(program);
  LISTED(AddSubcommand, add_what_if)(program);
  LISTED(AddSubcommand, add_list)(program);
  LISTED(AddSubcommand, add_describe)(program);
  LISTED(AddSubcommand, add_lines)(program);
  LISTED(AddSubcommand, add_explain)(program);
  LISTED(AddSubcommand, add_steps)(program);
  LISTED(AddSubcommand, add_advise)(program);
  LISTED(AddSubcommand, add_compare_locks)(program);
  LISTED(AddSubcommand, add_find_sharing)(program);
  LISTED(AddSubcommand, add_layout)(program);
  LISTED(AddSubcommand, add_trace)(program);
  LISTED(AddSubcommand, add_import)(program);
  LISTED(AddSubcommand, add_check_lock)(program);
  LISTED(AddSubcommand, add_kernel_lock)(program);
  LISTED(AddSubcommand, add_lock_report)(program);
  LISTED(AddSubcommand, add_check)(program);
  LISTED(AddSubcommand, add_calibrate)(program);
  LISTED(AddSubcommand, add_reproduce)(program);
  LISTED(AddSubcommand, add_validate)(program);
  LISTED(AddSubcommand, add_bench)(program);
}

namespace {

// ---- --help, formatted for the terminal's width ----

constexpr std::size_t kExampleIndent = 2;
constexpr std::size_t kWordsIndent = 6;
constexpr std::size_t kMeaningColumn = 30;
constexpr std::size_t kNarrowMeaningColumn = 24;

std::string lines_from(const std::vector<std::string>& lines, std::size_t indent) {
  std::string out;
  for (const std::string& line : lines) out += std::string(indent, ' ') + line + "\n";
  return out;
}

bool is_example(const std::string& line) {
  return line.starts_with("  ");
}

// Breaks a long command between options; an option stays on one line with its value. A backslash ends each line but the last,
// so that the lines can be typed or pasted as they stand.
std::string command_lines(std::string command, std::size_t width) {
  constexpr char kHeld = '\x1f';
  constexpr std::string_view kContinued = " \\";
  for (std::size_t at = command.find(" --"); at != std::string::npos; at = command.find(" --", at + 1)) {
    const std::size_t value = command.find(' ', at + 1);
    if (value != std::string::npos && command[value + 1] != '-') command[value] = kHeld;
  }
  const bool fits = kExampleIndent + width_of(command) <= width;
  std::vector<std::string> lines = fits ? std::vector{command} : wrapped(command, width - kWordsIndent - kContinued.size());
  for (std::string& line : lines) {
    std::replace(line.begin(), line.end(), kHeld, ' ');
    if (&line != &lines.back()) line += kContinued;
  }
  return std::string(kExampleIndent, ' ') + lines.front() + "\n" + lines_from({lines.begin() + 1, lines.end()}, kWordsIndent);
}

std::string example_text(const std::string& line, std::size_t width) {
  if (line.starts_with(std::string(kWordsIndent, ' ')))
    return lines_from(wrapped(line.substr(kWordsIndent), width - kWordsIndent), kWordsIndent);
  const std::size_t command_end = line.find("  ", kExampleIndent);
  std::string command = line.substr(kExampleIndent, command_end - kExampleIndent);
  if (command_end == std::string::npos) return command_lines(command, width);
  const std::string words = line.substr(line.find_first_not_of(' ', command_end));
  return command_lines(command, width) + lines_from(wrapped(words, width - kWordsIndent), kWordsIndent);
}

std::string group_text(const std::vector<std::string>& group, std::size_t width) {
  if (std::ranges::all_of(group, [&](const std::string& line) { return width_of(line) <= width; })) return lines_from(group, 0);
  std::string out;
  for (const std::string& line : group)
    out += is_example(line) ? example_text(line, width) : lines_from(wrapped(line, width), 0);
  return out;
}

// Formats paragraphs and groups of examples. An example is a line "  COMMAND    what it does". If any command of a group is too
// long, the whole group puts its descriptions on separate lines.
std::string help_footer(std::string_view text, std::size_t width) {
  std::string out;
  std::vector<std::string> group;
  for (const std::string& line : text_lines(text)) {
    if (!line.empty()) {
      if (!group.empty() && !is_example(line) && !is_example(group.back())) {
        group.back() += " " + line;
      } else {
        group.push_back(line);
      }
      continue;
    }
    out += group_text(group, width);
    if (!out.empty()) out += "\n";
    group.clear();
  }
  return out + group_text(group, width);
}

struct PythonCommand {
  std::string_view name, meaning;
  HelpGroup group;
  std::string_view example = {}, example_meaning = {};  // as of Command::try_first()
};

// Commands in the Python package analysis/. If it is not installed, the error explains how to install it.
constexpr std::array kPythonCommands = {
    PythonCommand{"sweep", "Run a sweep on a cluster, or find which parameters move a metric", HelpGroup::runs},
    PythonCommand{"report", "Draw results as one HTML file: charts, locks, cache lines, the machine", HelpGroup::results,
                  "linebounce report out/two_sockets", "draw charts, locks, lines and machine in one file"},
    PythonCommand{"compare", "Say what differs between results, and which are better", HelpGroup::results},
    PythonCommand{"tables", "Write tables of results as CSV, JSON, Parquet or Markdown", HelpGroup::results},
    PythonCommand{"gate", "Say whether a change of a program makes its threads share more than a budget allows",
                  HelpGroup::programs},
    PythonCommand{"trace-export", "Write a run or a trace as tracks for the Perfetto viewer", HelpGroup::programs},
    PythonCommand{"teach", "Serve or play the lessons, make and grade assignments", HelpGroup::teaching},
};

constexpr HelpGroup kHelpGroups[] = {HelpGroup::runs,     HelpGroup::results,      HelpGroup::programs, HelpGroup::checks,
                                     HelpGroup::machines, HelpGroup::publications, HelpGroup::teaching};

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::size_t width) : width_(width) {
    column_width(width < kTerminalWidth ? kNarrowMeaningColumn : kMeaningColumn);
  }

  std::string make_description(const CLI::App* app) const override {
    return lines_from(wrapped(app->get_description(), width_), 0);
  }
  std::string make_footer(const CLI::App* app) const override { return help_footer(app->get_footer(), width_); }
  std::string make_subcommand(const CLI::App* sub) const override { return entry(sub->get_name(), sub->get_description()); }
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override {
    return app->get_parent() == nullptr ? grouped(*app) : CLI::Formatter::make_subcommands(app, mode);
  }
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option));
  }

 private:
  // Groups commands by purpose, not by implementation language.
  std::string grouped(const CLI::App& program) const {
    std::string out;
    for (const HelpGroup group : kHelpGroups) {
      out += fmt::format("\n{}:\n", title(group));
      for (const CLI::App* command : program.get_subcommands({}))
        if (command->get_group() == title(group)) out += entry(command->get_name(), command->get_description());
      for (const PythonCommand& command : kPythonCommands)
        if (command.group == group) out += entry(typed_name(command), std::string(command.meaning));
    }
    return out;
  }

  static std::string typed_name(const PythonCommand& command) {
    return command.name == "trace-export" ? "trace export" : std::string(command.name);
  }

  std::string entry(const std::string& name, const std::string& meaning) const {
    const std::size_t column = get_column_width();
    const std::string left = "  " + name;
    const std::string right = lines_from(wrapped(meaning, width_ - column), column);
    return left.size() < column ? left + right.substr(left.size()) : left + "\n" + right;
  }

  std::size_t width_;
};

// Returns a formatter for lines of `width` columns.
std::shared_ptr<CLI::FormatterBase> help_formatter(std::size_t width) {
  return std::make_shared<HelpFormatter>(width);
}

constexpr const char* kCommandLineFooter = R"(
Any other SUBCOMMAND runs the program linebounce-SUBCOMMAND.

Exit codes: 0 done; 1 a check failed; 2 usage, configuration or output; 3 unreadable or missing input:
traces, results, measurements; 4 the simulation failed; 70 a bug in Linebounce; 130 interrupted.)";

// The examples that subcommands want tried first, in the order of --help, and the rest of the footer.
std::string command_line_footer(std::vector<FirstExample> examples) {
  constexpr int kColumn = 46;
  for (const PythonCommand& command : kPythonCommands)
    if (!command.example.empty()) examples.push_back({command.group, command.example, command.example_meaning});
  std::ranges::stable_sort(examples, {}, &FirstExample::group);
  std::string footer = "Examples:\n";
  for (const FirstExample& example : examples)
    footer += fmt::format("{:<{}}  {}\n", fmt::format("  {}", example.command), kColumn - 2, example.meaning);
  return footer + kCommandLineFooter;
}

std::vector<std::string> subcommand_names(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* subcommand : program.get_subcommands({})) names.push_back(subcommand->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// Returns the subcommand that the arguments name; without one, the program itself.
const CLI::App& chosen(const CLI::App& program) {
  const auto subcommands = program.get_subcommands();
  return subcommands.empty() ? program : chosen(*subcommands.front());
}

// "linebounce trace info"
std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? "linebounce" : full_name(*app.get_parent()) + " " + app.get_name();
}

// A word that users of other tools type, and what to type here.
struct Instead {
  std::string_view word, advice;
};

// Options; a command that has an option of the name does not come here.
constexpr Instead kOptionsInstead[] = {
    {"--threads", "--set machine.cpus=N says how many CPUs run"},
    {"--cpus", "--set machine.cpus=N says how many CPUs run"},
    {"--cores", "--set machine.cpus=N says how many CPUs run"},
    {"--nproc", "--set machine.cpus=N says how many CPUs run"},
    {"-c", "--set machine.cpus=N says how many CPUs run"},
    {"-n", "--set machine.cpus=N says how many CPUs run"},
    {"-p", "--set machine.cpus=N says how many CPUs run, -j N how many simulations at the same time"},
    {"-t", "--set machine.cpus=N says how many CPUs run"},
    {"--lock", "--set workload.lock=NAME chooses the lock"},
    {"--locks", "--set 'workload.lock=[A,B]' runs several locks"},
    {"--workload", "an experiment's file names its workload: linebounce new experiment NAME writes one"},
    {"--seeds", "--set run.seeds=N says how many runs each point has; --seed N is the first run's"},
    {"--duration", "--set run.measure_us=N is the measured time"},
    {"--time", "--set run.measure_us=N is the measured time"},
    {"--force", "--fresh starts over and keeps earlier results"},
    {"-f", "--fresh starts over and keeps earlier results"},
    {"--overwrite", "--fresh starts over and keeps earlier results"},
    {"--outdir", "-o DIR names the directory"},
    {"--dir", "-o DIR names the directory"},
    {"-d", "-o DIR names the directory"},
    {"--verbose", "progress is shown on a terminal; --all-metrics prints every metric of a run"},
    {"-v", "--version prints the version"},
    {"--json", "results are in results.json of the results directory"},
    {"-q", "--quiet prints nothing but errors"},
    {"--list", "linebounce list experiments, machines or locks lists names"},
    {"--grep", "--search WORD finds names"},
    {"--filter", "--search WORD finds names"},
    {"--a", "--set PATH=A --set PATH=B are the two sides"},
    {"--b", "--set PATH=A --set PATH=B are the two sides"},
    {"--to", "the ending of OUT says the form: .lbt or .txt"},
};

// Commands.
constexpr Instead kCommandsInstead[] = {
    {"simulate", "linebounce run EXPERIMENT"},
    {"sim", "linebounce run EXPERIMENT"},
    {"start", "linebounce run EXPERIMENT"},
    {"locks", "linebounce list locks"},
    {"machines", "linebounce list machines"},
    {"experiments", "linebounce list experiments"},
    {"workloads", "linebounce list workloads"},
    {"protocols", "linebounce list protocols"},
    {"metrics", "linebounce list metrics"},
    {"show", "linebounce describe NAME, or linebounce report DIR"},
    {"info", "linebounce trace info TRACE, or linebounce describe NAME"},
    {"replay", "linebounce trace replay TRACE"},
    {"convert", "linebounce trace convert IN OUT"},
    {"synth", "linebounce trace synth -o TRACE"},
    {"export", "linebounce trace export DIR --perfetto FILE"},
    {"perfetto", "linebounce trace export DIR --perfetto FILE"},
    {"stat", "linebounce-record -- ./program, then linebounce advise program.lbt"},
    {"top", "linebounce-record -- ./program, then linebounce advise program.lbt"},
    {"c2c", "linebounce import reads perf c2c's reports; linebounce-record records a program"},
    {"mem", "linebounce import reads perf mem's data; linebounce-record records a program"},
    {"annotate", "linebounce lines DIR shows the lines that miss most"},
    {"plot", "linebounce report DIR"},
    {"graph", "linebounce report DIR"},
    {"draw", "linebounce report DIR"},
    {"diff", "linebounce compare A B"},
    {"verify", "linebounce check PROTOCOL, or linebounce check-lock LOCK"},
    {"prove", "linebounce check PROTOCOL, or linebounce check-lock LOCK"},
    {"test", "linebounce check PROTOCOL, or linebounce check-lock LOCK"},
    {"init", "linebounce new experiment NAME"},
    {"create", "linebounce new experiment NAME"},
    {"help", "linebounce --help, or linebounce COMMAND --help"},
    {"version", "linebounce --version"},
    {"predict", "linebounce what-if, or linebounce validate"},
    {"grade", "linebounce teach --grade FILE"},
    {"lesson", "linebounce teach --lesson N"},
};

// Positional arguments that a command does not take; by the command's name.
constexpr Instead kArgumentsInstead[] = {
    {"ab",
     "the two sides are one path with two values: --set PATH=A --set PATH=B; linebounce compare compares results, "
     "linebounce lock-report locks"},
    {"list", "linebounce describe NAME describes one"},
    {"describe", "the order is KIND NAME"},
    {"calibrate", "the measurements are --from FILE"},
    {"synth", "the trace to write is -o FILE"},
    {"bench", "one case is --case NAME"},
    {"compare-locks", "it takes one trace; linebounce lock-report A B compares two locks, linebounce ab two settings"},
    {"check", "it takes one protocol at a time"},
    {"convert", "the order is IN OUT"},
    {"lock-report", "it takes two locks, A and B"},
};

std::string advice_on(std::span<const Instead> words, std::string_view word) {
  const auto found = std::ranges::find(words, word, &Instead::word);
  return found == words.end() ? "" : std::string(found->advice);
}

// Whether the command has the option with which the advice begins, if it begins with one.
bool fits(const std::string& advice, const CLI::App& app) {
  if (!advice.starts_with("-")) return !advice.empty();
  return advice.starts_with("--version") || app.get_option_no_throw(advice.substr(0, advice.find(' '))) != nullptr;
}

std::string unexpected_word(const CLI::App& app, const std::string& word) {
  const std::string message = fmt::format("unexpected argument \"{}\"", word);
  if (word.find('=') != std::string::npos) return fmt::format("{}; settings are given by --set: --set {}", message, word);
  const std::string advice = advice_on(kArgumentsInstead, app.get_name());
  return advice.empty() ? message : message + "; " + advice;
}

std::string unexpected_argument(const CLI::App& program, const CLI::App& app) {
  const std::vector<std::string> before = app.get_parent() == nullptr ? std::vector<std::string>() : program.remaining(false);
  if (!before.empty())
    return fmt::format("{} stands before the command; options follow it: {} ... {}", before.front(), full_name(app),
                       before.front());
  const std::vector<std::string> left = app.remaining(true);
  const std::string argument = left.empty() ? "" : left.front();
  if (!argument.starts_with("-")) return unexpected_word(app, argument);
  const std::string name = argument.substr(0, argument.find('='));
  std::string message = "there is no option " + name;
  if (const std::string advice = advice_on(kOptionsInstead, name); fits(advice, app)) return message + ": " + advice;
  const std::string near = nearest(name, option_names(app));
  if (!near.empty()) message += "; did you mean " + near + "?";
  return message;
}

// The option whose name, with or without dashes, begins CLI11's message; null if there is none.
const CLI::Option* option_in(const CLI::App& app, const std::string& what) {
  const std::string name = what.substr(0, what.find_first_of(": "));
  return app.get_option_no_throw(name);
}

// The message for an option with too few or too many values.
std::string wrong_number_of_values(const CLI::App& app, const std::string& what) {
  const CLI::Option* option = option_in(app, what);
  if (option == nullptr) return what;
  if (option->count() > 1) return fmt::format("{} is given more than once; give it once", option->get_name());
  return fmt::format("{} needs a value: {} {}", option->get_name(), option->get_name(), option->get_type_name());
}

// The message for a value of another type. `what`: "Could not convert: --seed = abc".
std::string wrong_type(const CLI::App& app, const std::string& what) {
  constexpr std::string_view kConversion = "Could not convert: ";
  const std::size_t equals = what.find(" = ");
  if (!what.starts_with(kConversion) || equals == std::string::npos) return what;
  const std::string name = what.substr(kConversion.size(), equals - kConversion.size());
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option != nullptr && option->get_items_expected_max() == 0) return name + " takes no value";
  return fmt::format("{}: \"{}\" is not a whole number; legal: 0 or more", name, what.substr(equals + 3));
}

// Names the subcommands of a command that needs one, or the first argument if that is not one.
std::string missing_subcommand(const CLI::App& app) {
  if (!app.remaining(true).empty()) return unexpected_argument(app, app);
  return fmt::format("{} needs a subcommand: {}", app.get_name(), fmt::join(subcommand_names(app), ", "));
}

// Rewords the errors of CLI11, which name neither legal values nor similar options.
std::string usage_problem(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& app = chosen(program);
  const std::string what = error.what();
  // An unknown option says more than the argument that it may have taken the place of.
  const std::vector<std::string> left = app.remaining(true);
  const bool is_option = !left.empty() && left.front().starts_with("-") && left.front() != "-" && left.front() != "--";
  if (is_option && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return unexpected_argument(program, app);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return unexpected_argument(program, app);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) return wrong_number_of_values(app, what);
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) return wrong_type(app, what);
  if (what == "A subcommand is required") return missing_subcommand(app);
  return what;
}

int report_usage(const CLI::App& program, const std::string& problem) {
  print_error(problem + "\nTry: " + full_name(chosen(program)) + " --help");
  return static_cast<int>(ExitCode::usage);
}

// The path of linebounce-NAME: next to this program, or in bin/ of the prefix in which this program is installed. Otherwise its
// bare name, which execvp looks up in PATH. Also sets the environment variable that tells it its caller.
std::string external_program(const std::string& name) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return "linebounce-" + name;
  ::setenv("LINEBOUNCE", self.c_str(), 0);
  for (const char* folder : {"", "../../bin"}) {
    const auto external = (self.parent_path() / folder / ("linebounce-" + name)).lexically_normal();
    if (::access(external.c_str(), X_OK) == 0) return external;
  }
  return "linebounce-" + name;
}

// The words that name a subcommand outside this program: "sweep", or "trace export". Empty if the subcommand is built in or
// missing.
std::vector<std::string> external_words(const CLI::App& program, int argc, char** argv) {
  std::vector<std::string> words;
  const CLI::App* app = &program;
  for (int i = 1; i < argc && argv[i][0] != '-' && argv[i][0] != '\0'; ++i) {
    words.emplace_back(argv[i]);
    const auto names = subcommand_names(*app);
    if (std::ranges::find(names, words.back()) == names.end()) return words;
    app = app->get_subcommand(words.back());
    if (app->get_require_subcommand_min() == 0) break;  // The remaining words are arguments of `app`.
  }
  return {};
}

// Names the command to type in place of a word that is none: another tool's word, the name of an experiment, or a file.
std::string command_meant(const std::string& word) {
  if (const std::string advice = advice_on(kCommandsInstead, word); !advice.empty()) return advice;
  if (const std::string kind = as_another_kind(word); !kind.empty()) return kind;
  std::error_code ignored;
  const std::filesystem::path file = word;
  if (std::filesystem::exists(file / "manifest.json", ignored))
    return fmt::format("it is a results directory, for linebounce report {}", word);
  if (!std::filesystem::is_regular_file(file, ignored)) return "";
  const std::string ending = file.extension().string();
  if (ending == ".md") return fmt::format("it is a file, for linebounce check {}", word);
  if (ending == ".lbt") return fmt::format("it is a trace, for linebounce advise {0} or linebounce trace info {0}", word);
  if (ending == ".toml" || ending == ".lua" || ending == ".c") return fmt::format("it is a file, for linebounce run {}", word);
  return fmt::format("it is a file; linebounce import {} says what it is", word);
}

// Replaces this process by linebounce-NAME or linebounce-trace-NAME. Returns only if there is no such program.
int run_external(const CLI::App& program, const std::vector<std::string>& words, int argc, char** argv) {
  const std::string name = fmt::format("{}", fmt::join(words, "-"));
  const CLI::App& parent = words.size() == 1 ? program : *program.get_subcommand(words.front());
  std::string external = external_program(name);
  std::vector<char*> arguments = {external.data()};
  arguments.insert(arguments.end(), argv + 1 + words.size(), argv + argc);
  arguments.push_back(nullptr);
  ::execvp(external.c_str(), arguments.data());
  if (errno != ENOENT) {
    print_error("cannot run " + external + ": " + std::generic_category().message(errno));
  } else if (std::ranges::find(kPythonCommands, name, &PythonCommand::name) != kPythonCommands.end()) {
    print_error(fmt::format(
        "{} needs the Python package, which is not installed; install it with ./dev setup or pip install linebounce-*.whl",
        name));
  } else {
    const std::string before = words.size() == 1 ? "" : words.front() + "-";
    std::vector<std::string> known = subcommand_names(parent);
    for (const PythonCommand& command : kPythonCommands) {
      if (command.name.starts_with(before) && command.name.find('-', before.size()) == std::string_view::npos)
        known.emplace_back(command.name.substr(before.size()));
    }
    const std::string advice = words.size() == 1 ? command_meant(words.back()) : "";
    const std::string problem = advice.empty()
                                    ? "command " + not_known(words.back(), known, "linebounce --help")
                                    : fmt::format("command \"{}\" is not known: {}", visible_name(words.back()), advice);
    print_error(words.size() == 1 ? problem : problem + "\nTry: " + full_name(parent) + " --help");
  }
  return static_cast<int>(ExitCode::usage);
}

int parse_and_do(int argc, char** argv) {
  Invocation invocation;
  invocation.argv.assign(argv, argv + argc);
  CLI::App program("Linebounce simulates cache coherence on multicore machines, cycle by cycle, and shows what it costs.",
                   "linebounce");
  program.set_version_flag("--version", "linebounce " + program_version() + " (" + program_commit() + ")",
                           "Print the version and exit");
  program.set_help_flag("-h,--help", "Print this help and exit");
  program.require_subcommand(1);
  program.formatter(help_formatter(std::min(kTerminalWidth, painter_for_stdout().columns())));
  Command command(program, invocation);
  add_subcommands(command);
  program.footer(command_line_footer(invocation.first_examples));
  if (argc < 2) {
    std::cerr << program.help();
    return static_cast<int>(ExitCode::usage);
  }
  if (const auto words = external_words(program, argc, argv); !words.empty()) return run_external(program, words, argc, argv);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return program.exit(error);  // --help, --version
    return report_usage(program, usage_problem(program, error));
  }
  try {
    for (const auto& problem : invocation.conditions) {
      if (const std::string text = problem(); !text.empty()) throw UsageError(text);
    }
    return static_cast<int>(invocation.action());
  } catch (const UsageError& error) {
    return report_usage(program, error.what());
  }
}

// Makes a failed write to standard output an error.
int flush_output(int code) {
  errno = 0;  // stays 0 if an earlier write failed: the reason is then lost
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::cout.good()) return code;
  print_error("cannot write to the standard output" + (errno == 0 ? "" : ": " + std::generic_category().message(errno)));
  return static_cast<int>(larger(static_cast<ExitCode>(code), ExitCode::usage));
}

}  // namespace

int run_command_line(int argc, char** argv) {
  const VisibleOutput output;
  exit_on_interrupts();
  // A write beyond the file size limit then fails with an error code; by default, SIGXFSZ would end the program. It is not
  // ignored, because programs that we start would ignore it too.
  ::signal(SIGXFSZ, [](int) {});
  int code = 0;
  try {
    code = flush_output(parse_and_do(argc, argv));
  } catch (...) {
    const Failure failure = describe_current_exception();
    print_error(failure.message);
    code = static_cast<int>(failure.code);
  }
  if (code != 0) remove_unused_directories();
  return code;
}

}  // namespace linebounce::sim
