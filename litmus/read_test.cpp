// A test has an architecture and a name, an optional title in quotes, initial values in braces, and threads in columns
// separated by `|`, with `;` after each row. A condition ends the test. Source: the manual of herdtools7. Tests in C have
// functions instead of columns.
#include "litmus/read_test.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>

#include "forms/line_file.hpp"
#include "litmus/read_condition.hpp"
#include "litmus/scanner.hpp"
#include "litmus/test_sections.hpp"
#include "models/text/visible.hpp"
#include "trace/error.hpp"

namespace linebounce::sim::litmus {
namespace {

constexpr std::array<std::string_view, 5> kArchitectures = {"X86", "X86_64", "AArch64", "C", "LISA"};

// An error whose line is known.
struct LineError : std::invalid_argument {
  LineError(int at, const std::string& text) : std::invalid_argument(text), line(at) {}
  int line;
};

class TestReader {
 public:
  explicit TestReader(const std::string& text) : sections_(text) { program_.source = sections_.lines; }

  Program read() {
    head();
    stated_result();
    initial_values();
    program_.architecture == "C" ? read_c_functions(program_, sections_.body.text, sections_.body.line) : columns();
    if (program_.threads.empty()) refuse_line(sections_.body.line, "expected a thread P0");
    end();
    return std::move(program_);
  }

 private:
  void head() {
    Scanner scanner(sections_.head.text, sections_.head.line);
    std::string_view line = scanner.rest();
    const int number = scanner.line();
    line = line.substr(0, line.find('\n'));
    program_.architecture = take_word(line);
    program_.name = take_word(line);
    if (std::ranges::find(kArchitectures, program_.architecture) == kArchitectures.end())
      refuse_line(number, fmt::format("{} has no memory model here: expected one of {}, and the test's name",
                                      visible_name(program_.architecture.substr(0, 30)), fmt::join(kArchitectures, ", ")));
    if (program_.name.empty()) refuse_line(number, "the test has no name");
    const std::string_view text = sections_.head.text;
    const std::size_t open = text.find('"');
    if (open != text.npos) program_.title = text.substr(open + 1, text.find('"', open + 1) - open - 1);
  }

  // Takes the result that a comment states, as the kernel's tests do: "Result: Never". One with a reservation behind it is
  // none.
  void stated_result() {
    for (const std::string& line : program_.source) {
      const std::size_t at = line.find("Result:");
      if (at == std::string::npos || !program_.stated.empty()) continue;
      std::string_view rest = std::string_view(line).substr(at + std::string_view("Result:").size());
      std::string_view word = take_word(rest);
      if (word.ends_with("*)")) word.remove_suffix(2);
      std::string_view next = take_word(rest);
      const bool is_race = next == "DATARACE";
      if (is_race) next = take_word(rest);
      if (!next.empty() && next != "*)") continue;
      for (const auto& [stated, result] : {std::array<std::string_view, 2>{"Never", "Never"},
                                           {"Sometimes", "Sometimes"},
                                           {"Always", "Always"},
                                           {"DEADLOCK", "Deadlock"}}) {
        if (word == stated) program_.stated = result;
      }
      program_.states_race = is_race && !program_.stated.empty();
    }
  }

  // ---- Initial values: "x=0; 0:X1=y; int z; uint64_t 1:rax; int *p=&x;" ----

  void initial_values() {
    int line = sections_.initial.line;
    std::string_view rest = sections_.initial.text;
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find(';'));
      int at = line;
      const std::size_t begin = std::min(part.find_first_not_of(" \t\n\r"), part.size());
      at += static_cast<int>(std::count(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
      line += static_cast<int>(std::ranges::count(part, '\n'));
      rest.remove_prefix(std::min(part.size() + 1, rest.size()));
      if (begin == part.size()) continue;
      try {
        initial_value(part);
      } catch (const std::invalid_argument& problem) {
        refuse_line(at, problem.what());
      }
    }
    // A value may be the address of a variable that is declared after it, so these come last.
    for (const auto& [place, name] : addresses_) set_initial(place, address_of(program_.variable(name)));
  }

  void initial_value(std::string_view text) {
    const std::size_t equals = text.find('=');
    std::string left(text.substr(0, equals));
    std::ranges::replace(left, '\n', ' ');
    left = trimmed(left);
    if (left.find_first_of("({,") != left.npos || text.find('{') != text.npos)
      throw std::invalid_argument("arrays and structures have no counterpart here");
    // The name is the last word; before it is its type. "0: X1" has a blank inside.
    std::erase_if(left, [](char c) { return c == '*' || c == '&'; });
    const std::size_t colon = left.find(':');
    if (colon != left.npos) left = left.substr(0, colon + 1) + std::string(trimmed(std::string_view(left).substr(colon + 1)));
    std::string_view words = left;
    std::string_view name;
    while (!words.empty()) name = take_word(words);
    if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
    const Place place = place_of(name);
    if (equals == text.npos) return;
    value_of(place, text.substr(equals + 1));
  }

  void value_of(const Place& place, std::string_view text) {
    Scanner scanner(text);
    if (scanner.taken("ATOMIC_INIT")) scanner.expect("(");
    while (scanner.taken("&") || scanner.taken("*")) {
    }
    if (scanner.taken("(")) {  // a cast
      while (!scanner.at_end() && !scanner.taken(")")) scanner.taken(scanner.rest().substr(0, 1));
    }
    if (const auto number = scanner.number()) {
      set_initial(place, *number);
    } else {
      const std::string_view name = scanner.name();
      if (name.empty()) scanner.wanted("a number or a variable's name");
      addresses_.emplace_back(place, name);
    }
    scanner.taken(")");
    if (!scanner.at_end()) scanner.wanted("\";\"");
  }

  Place place_of(std::string_view name) {
    const std::size_t colon = name.find(':');
    if (colon == name.npos) {
      if (name.empty() || !is_name_start(name.front()) ||
          !std::ranges::all_of(name, [](char c) { return is_name_part(c) || c == '.'; }))
        throw std::invalid_argument(
            fmt::format("\"{}\" is no variable: expected NAME=VALUE or THREAD:REGISTER=VALUE", visible_name(name)));
      return {-1, program_.variable(name)};
    }
    return register_place(program_, name.substr(0, colon), name.substr(colon + 1), true);
  }

  void set_initial(const Place& place, Word value) {
    (place.thread < 0 ? program_.variables[place.number].initial : program_.threads[place.thread].initial[place.number]) =
        value;
  }

  // ---- Columns ----

  void columns() {
    std::vector<std::vector<Cell>> threads;
    int line = sections_.body.line;
    std::string_view rest = sections_.body.text;
    while (!trimmed(rest).empty()) {
      const std::string_view row = rest.substr(0, rest.find(';'));
      add_row(row, line, threads);
      line += static_cast<int>(std::ranges::count(row, '\n'));
      rest.remove_prefix(std::min(row.size() + 1, rest.size()));
    }
    const auto read = program_.architecture == "AArch64" ? read_aarch64_thread
                      : program_.architecture == "LISA"  ? read_lisa_thread
                                                         : read_x86_thread;
    if (program_.threads.size() < threads.size()) program_.threads.resize(threads.size());
    for (std::size_t thread = 0; thread < threads.size(); ++thread) read(program_, thread, threads[thread]);
  }

  static void add_row(std::string_view row, int line, std::vector<std::vector<Cell>>& threads) {
    const std::vector<std::string> cells = split_outside_brackets(row, '|');
    line += static_cast<int>(std::count(
        row.begin(),
        std::find_if(row.begin(), row.end(), [](char c) { return c != ' ' && c != '\n' && c != '\t' && c != '\r'; }), '\n'));
    if (threads.empty()) {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (cells[i] != fmt::format("P{}", i) || i == kMostTestThreads)
          refuse_line(line, fmt::format("expected the threads' names P0 | P1 ...;, {} at most", kMostTestThreads));
      }
      threads.resize(cells.size());
      return;
    }
    if (cells.size() > threads.size()) refuse_line(line, fmt::format("more columns than the {} threads", threads.size()));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!cells[i].empty()) threads[i].push_back({cells[i], line});
    }
  }

  // ---- The end: filter, locations, and the condition ----

  void end() {
    Scanner scanner(sections_.end.text, sections_.end.line);
    int line = scanner.line();
    try {
      while (!scanner.at_end()) {
        line = scanner.line();
        if (scanner.taken("filter")) {
          program_.filter = read_condition(program_, scanner);
        } else if (scanner.taken("locations")) {
          scanner.expect("[");
          while (!scanner.taken("]")) {
            if (scanner.at_end()) scanner.wanted("\"]\"");
            scanner.taken(scanner.rest().substr(0, 1));
          }
        } else {
          break;
        }
        scanner.taken(";");
      }
      line = scanner.line();
      condition(scanner);
    } catch (const std::invalid_argument& problem) {
      // What is missing at the end is missed in the last line that has anything.
      const auto last = std::find_if(sections_.lines.rbegin(), sections_.lines.rend(),
                                     [](const std::string& one) { return !trimmed(one).empty(); });
      refuse_line(std::min(std::max(line, scanner.line()), static_cast<int>(sections_.lines.rend() - last)), problem.what());
    }
  }

  void condition(Scanner& scanner) {
    if (scanner.at_end()) throw std::invalid_argument("the condition is missing: exists (...)");
    const std::string_view text = trimmed(scanner.rest());
    const bool is_negated = scanner.taken("~");
    if (scanner.taken("forall") && !is_negated) {
      program_.quantifier = Program::Quantifier::for_all;
    } else if (scanner.taken("exists")) {
      program_.quantifier = is_negated ? Program::Quantifier::not_exists : Program::Quantifier::exists;
    } else {
      scanner.wanted("exists, ~exists or forall");
    }
    program_.condition = read_condition(program_, scanner);
    const std::size_t length = text.size() - trimmed(scanner.rest()).size();
    for (const char c : trimmed(text.substr(0, length))) {
      const bool is_blank = c == '\n' || c == ' ' || c == '\t';
      if (!is_blank || !program_.condition_text.ends_with(' ')) program_.condition_text += is_blank ? ' ' : c;
    }
    scanner.taken(";");
    if (!scanner.at_end()) scanner.wanted("/\\ or \\/");
  }

  TestSections sections_;
  Program program_;
  std::vector<std::pair<Place, std::string>> addresses_;
};

}  // namespace

void refuse_line(int line, const std::string& text) {
  throw LineError(line, text);
}

Program read_test(const std::string& text, const std::string& file) {
  std::optional<TestReader> reader;
  try {
    reader.emplace(text);
    return reader->read();
  } catch (const LineError& problem) {
    std::string_view line = text;
    for (int i = 1; i < problem.line && !line.empty(); ++i) line.remove_prefix(std::min(line.find('\n'), line.size() - 1) + 1);
    line = trimmed(line.substr(0, line.find('\n')));
    throw trace::TraceError(
        fmt::format("{}: line {}: {}: \"{}\"", file, problem.line, problem.what(), visible_name(line.substr(0, 60))));
  } catch (const std::invalid_argument& problem) {
    throw trace::TraceError(file + ": " + problem.what());
  }
}

}  // namespace linebounce::sim::litmus
