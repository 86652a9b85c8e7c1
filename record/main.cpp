// linebounce-record: the command line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "models/text/shell_word.hpp"
#include "models/text/spelling.hpp"
#include "record/collector/record_program.hpp"
#include "record/collector/structure_layouts.hpp"
#include "trace/files.hpp"
#include "trace/stack_limit.hpp"

namespace linebounce::record {
namespace {

constexpr int kUsage = 2;
constexpr int kUnread = 3;
constexpr int kMostRuns = 1000;
constexpr std::uint64_t kMostCpus = 128;  // of the shipped machines: epyc_7742_2socket

constexpr const char* kFooter = R"(
The program must have been compiled by linebounce-cc or linebounce-c++, which take gcc's arguments, or those of the compiler that
LINEBOUNCE_CC or LINEBOUNCE_CXX names. With --binary it may be any x86-64 program with shared libraries, in Rust for example; it
then runs in QEMU.

Examples:
  linebounce-cc -O2 -pthread table.c -o table     compile it
  linebounce-record -- ./table 4 1000             record a run: table.lbt
  linebounce-record --window 1000000:500000 -o middle.lbt -- ./table 4 100000
                                                  half a million operations, after the first million
  linebounce-record --from serve --until shut_down -- ./server
                                                  what it does between two calls, without warm-up
  linebounce-record --after 10 --for 0.5 -- ./server
                                                  half a second, after ten
  make CC=linebounce-cc && linebounce-record -- ./program
  linebounce-record --spread -- ./table 4 10      short threads, which would end before the next one begins
  linebounce-record --times 5 -- ./table 4 1000   five runs: table.lbt, table-2.lbt to table-5.lbt
  linebounce-record --untimed -- ./table 4 10     memory alone, for comparisons that a busy host must not change
  linebounce-record --binary -- ./program         as it is, with its libraries
  linebounce trace info table.lbt                 inspect it

The trace is read back and checked. The exit code is the program's, or 128 + the signal that killed it; 2 for wrong usage, if
nothing could be recorded, or if the trace could not be completed; 3 if other commands would refuse the trace, or if it could not
be checked. To use an incomplete trace, also after the recorder was killed:
  linebounce trace convert --recover broken.lbt usable.lbt)";

bool read_number(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

void read_window(std::string_view text, Window& window) {
  const std::size_t colon = text.find(':');
  if (colon == text.npos || !read_number(text.substr(0, colon), window.skip) ||
      !read_number(text.substr(colon + 1), window.count) || window.count == 0) {
    throw CLI::ValidationError("--window",
                               fmt::format("\"{}\" is not SKIP:COUNT, two whole numbers such as 1000000:500000", text));
  }
}

// Says why the window is empty, so that nothing was recorded.
std::string nothing_recorded(const Window& window) {
  if (window.from.empty() || window.after_s > 0 || window.skip > 0)
    return "the window began after the program's end, or what --from names was not called in it";
  return fmt::format(
      "nothing was recorded after a call of {}; a function is known by its name alone, as `linebounce trace info` has it, "
      "and only if it touches memory",
      window.from);
}

// Whether the recording was dropped, because it is empty and there is an earlier one of that name.
bool is_dropped(const Recorded& recorded) {
  return recorded.kept == recorded.file;
}

void report(const Recorded& recorded, const Window& window) {
  if (!recorded.killed_by.empty()) std::cerr << "linebounce-record: the program " << recorded.killed_by << "\n";
  std::cerr << fmt::format("linebounce-record: {}: {} operations of {} thread{}\n", recorded.file, recorded.operations,
                           recorded.threads, recorded.threads == 1 ? "" : "s");
  if (is_dropped(recorded)) {
    std::cerr << fmt::format("linebounce-record: {} keeps its earlier recording, of {} operations\n", recorded.file,
                             recorded.earlier);
  } else if (!recorded.kept.empty()) {
    std::cerr << fmt::format("linebounce-record: the earlier recording, of {} operations, is kept in {}\n", recorded.earlier,
                             recorded.kept);
  }
  if (recorded.apart.threads > 0)
    std::cerr << fmt::format(
        "linebounce-record: {} of {} threads ran one after another, so how they wait for each other was not seen: --spread "
        "lets threads begin together\n",
        recorded.apart.threads, recorded.apart.of);
  if (recorded.operations == 0) std::cerr << "linebounce-record: " << nothing_recorded(window) << "\n";
}

// "table.lbt": "table-2.lbt".
std::string numbered(const std::string& file, int number) {
  const std::filesystem::path path = file;
  return (path.parent_path() / fmt::format("{}-{}{}", path.stem().string(), number, path.extension().string())).string();
}

// Suggests the next command, with threads folded onto CPUs if no shipped machine has one for each. Text traces get no
// suggestion.
void show_next_step(const std::vector<std::string>& files, std::uint64_t most_threads) {
  if (files.front().ends_with(".txt")) return;
  std::cerr << "Next: linebounce advise";
  for (const std::string& file : files) std::cerr << " " << shell_word(file);
  if (most_threads > kMostCpus) std::cerr << " --set workload.threads=round_robin";
  std::cerr << "\n";
}

// A check in the words of the other commands (commands/common/command.cpp). `legal`: the values for which `fits` is true.
template <class Number, class Fits>
CLI::Validator number_that(Fits fits, const std::string& legal) {
  const char* kind = std::is_integral_v<Number> ? "whole number" : "number";
  return {[=](const std::string& text) {
            Number value = 0;
            if (!CLI::detail::lexical_cast(text, value)) return fmt::format("\"{}\" is not a {}; legal: {}", text, kind, legal);
            return fits(value) ? std::string() : fmt::format("{} is out of range; legal: {}", text, legal);
          },
          ""};
}

struct ForeignOption {
  std::string_view name, advice;
};

// What users of perf, strace and valgrind type.
constexpr std::string_view kStartsProgram = "linebounce-record starts the program itself: linebounce-record -- ./program";
constexpr std::string_view kRecordsAll =
    "all accesses, locks and calls are recorded; --window, --from and --after choose a part";
constexpr std::string_view kOfProgram = "the program's own options go behind it: linebounce-record -- ./program";
constexpr ForeignOption kForeignOptions[] = {
    {"-p", kStartsProgram},
    {"--pid", kStartsProgram},
    {"-a", kStartsProgram},
    {"--all-cpus", kStartsProgram},
    {"-C", kStartsProgram},
    {"-e", kRecordsAll},
    {"--event", kRecordsAll},
    {"-g", kRecordsAll},
    {"--call-graph", kRecordsAll},
    {"-F", kRecordsAll},
    {"-c", kRecordsAll},
    {"--tool", "--binary records a program as it is"},
    {"-t", kOfProgram},
    {"--threads", kOfProgram},
    {"-n", kOfProgram},
    {"-j", kOfProgram},
    {"-r", "--times N records N runs"},
};

std::string no_option(const CLI::App& program, const std::string& name) {
  const std::string text = "there is no option " + name;
  const auto* foreign = std::ranges::find(kForeignOptions, name, &ForeignOption::name);
  if (foreign != std::end(kForeignOptions)) return fmt::format("{}: {}", text, foreign->advice);
  std::vector<std::string> known;
  for (const CLI::Option* option : program.get_options()) {
    for (const std::string& known_name : option->get_lnames()) known.push_back("--" + known_name);
  }
  const std::string near = nearest(name, known);
  return near.empty() ? text : fmt::format("{}; did you mean {}?", text, near);
}

// Rewords the errors of CLI11, as commands/command_line.cpp does.
std::string usage_problem(const CLI::App& program, const CLI::ParseError& error) {
  const std::string what = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string name = what.substr(0, what.find_first_of(": "));
    const CLI::Option* option = program.get_option_no_throw(name);
    if (option != nullptr && option->count() > 1) return fmt::format("{} is given more than once; give it once", name);
    if (option != nullptr) return fmt::format("{} needs a value: {} {}", name, name, option->get_type_name());
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return what;
  for (const std::string& word : program.remaining()) {
    if (word != "--" && word.starts_with("-")) return no_option(program, word.substr(0, word.find('=')));
  }
  return what;
}

// linebounce-record --structures FILE [NAME]... prints layouts of types. `linebounce import` calls it to read a binary's types.
int print_structures(const std::vector<std::string>& words) {
  std::cout << structure_layouts(words.front(), {words.begin() + 1, words.end()});
  return 0;
}

int run(int argc, char** argv) {
  constexpr int kFirstWord = 2;
  if (argc > kFirstWord && std::string_view(argv[1]) == "--structures")
    return print_structures({argv + kFirstWord, argv + argc});
  CLI::App program("Records what the threads of a program do to memory, locks and each other, as a trace to replay.",
                   "linebounce-record");
  RecordOptions options;
  std::string window;
  int times = 1;
  program.set_help_flag("-h,--help", "Print this help and exit");
  program.footer(kFooter);
  program
      .add_option("-o,--output", options.file,
                  "The trace, as text if its name ends in .txt; default: the program's name with .lbt")
      ->type_name("FILE");
  program.add_option("--window", window, "Only COUNT operations, after the first SKIP, of all threads together")
      ->type_name("SKIP:COUNT");
  program.add_option("--from", options.window.from, "Begin when FUNCTION is first called")->type_name("FUNCTION");
  program.add_option("--until", options.window.until, "End when FUNCTION is called")->type_name("FUNCTION");
  program.add_option("--after", options.window.after_s, "Begin this many seconds after the program starts; 0 or more")
      ->type_name("SECONDS")
      ->check(number_that<double>([](double value) { return value >= 0; }, "0 or more"));
  program.add_option("--for", options.window.for_s, "End this many seconds after recording begins; more than 0")
      ->type_name("SECONDS")
      ->check(number_that<double>([](double value) { return value > 0; }, "more than 0"));
  program.add_option("--times", times, "Record N runs, 1 to 1000: the second into FILE-2.lbt, and so on; default: 1")
      ->type_name("N")
      ->check(number_that<int>([](int value) { return value >= 1 && value <= kMostRuns; }, fmt::format("1 to {}", kMostRuns)));
  program.add_flag(
      "--spread", options.spreads,
      "Let threads that are created in a row begin together, 20 ms after the last of them, so that short ones overlap");
  auto* binary = program.add_flag(
      "--binary", options.is_binary,
      "The program was not compiled by linebounce-cc: run it in QEMU (Debian's package qemu-user); instructions are counted");
  program
      .add_flag("--untimed", options.is_untimed,
                "Leave out how long the program computes and waits between its accesses, which on a busy host is not the "
                "program's alone; shares and gains are then those of a program that only accesses memory")
      ->excludes(binary);
  program.add_option("COMMAND", options.command, "The program and its arguments, behind --")->type_name("")->required();
  try {
    program.parse(argc, argv);
    if (!window.empty()) read_window(window, options.window);
    if (program.count("--output") > 0 && options.file.empty()) throw CLI::ValidationError("--output", "the value is empty");
    trace::require_trace_name("--output", options.file);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return program.exit(error);
    std::cerr << "linebounce-record: " << usage_problem(program, error)
              << "\nTry: linebounce-record --help; the program's own options go behind --" << std::endl;
    return kUsage;
  }
  std::vector<std::string> files;
  bool has_operations = true;
  std::uint64_t most_threads = 0;
  for (int run = 1;; ++run) {
    const Recorded recorded = record_program(options);
    report(recorded, options.window);
    if (!recorded.unread.empty()) {
      std::cerr << "linebounce-record: " << recorded.unread << "\n";
      return kUnread;
    }
    if (is_dropped(recorded)) return kUsage;  // nothing must take the earlier recording for this run's
    files.push_back(recorded.file);
    has_operations = has_operations && recorded.operations > 0;
    most_threads = std::max<std::uint64_t>(most_threads, recorded.threads);
    if (run == times || recorded.exit_status != 0) {
      if (has_operations) show_next_step(files, most_threads);
      return recorded.exit_status;
    }
    options.file = numbered(files.front(), run + 1);
  }
}

}  // namespace
}  // namespace linebounce::record

int main(int argc, char** argv) {
  if (const std::string problem = linebounce::trace::stack_problem(); !problem.empty()) {
    std::cerr << "linebounce-record: " << problem << std::endl;
    return linebounce::record::kUsage;
  }
  try {
    return linebounce::record::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "linebounce-record: " << error.what() << std::endl;
    return linebounce::record::kUsage;
  }
}
