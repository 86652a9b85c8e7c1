// Parses litmus tests. A test has an architecture and a name, an optional title in quotes, initial values in braces, and
// threads in columns separated by `|`, with `;` after each row. A condition ends the test. Source: the manual of herdtools7.
// Tests in C have functions instead of columns.
#include "sim/sources/litmus_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "models/text/visible.hpp"
#include "sim/sources/forms.hpp"
#include "sim/sources/line_file.hpp"
#include "sim/sources/litmus_builder.hpp"
#include "sim/sources/litmus_condition.hpp"
#include "sim/sources/lock_statistics.hpp"
#include "trace/error.hpp"
#include "workloads/litmus/litmus.hpp"
#include "workloads/litmus/litmus_test.hpp"

namespace linebounce::sim {
namespace {

struct SourceLine {
  std::string text;
  std::int64_t number;
};

constexpr std::array<std::string_view, 5> kArchitectures = {"X86", "X86_64", "AArch64", "C", "LISA"};
// Architectures that herd supports, but Linebounce does not.
constexpr std::array<std::string_view, 7> kOtherArchitectures = {"ARM", "PPC", "RISCV", "MIPS", "CPP", "BPF", "ASL"};

class HerdReader {
 public:
  HerdReader(const std::string& text, const std::string& file) : file_(file) {
    std::int64_t number = 0;
    for (std::string& line : unquoted_lines(text)) lines_.push_back({std::move(line), ++number});
    take_stated_result();
    remove_comments();
  }

  HerdTest read() {
    head();
    initial_values();
    test_.architecture == "C" ? functions() : columns();
    condition();
    choose_model();
    check();
    return std::move(test_);
  }

 private:
  // Takes the result from a comment "Result: Never", which the kernel's tests have.
  void take_stated_result() {
    constexpr std::string_view kResult = "Result:";
    for (const SourceLine& line : lines_) {
      const std::size_t at = line.text.find(kResult);
      if (at == std::string::npos || !test_.stated.empty()) continue;
      std::string_view rest = std::string_view(line.text).substr(at + kResult.size());
      const std::string_view word = take_word(rest);
      for (const std::string_view known : {"Never", "Sometimes", "Always"}) {
        if (word == known) test_.stated = known;
      }
    }
  }

  // Removes comments: "(* ... *)" and "/* ... */", also across lines, and "// ...". In C, "(*" may also begin an argument, as
  // in f(*x). So in C it begins a comment only at the start of a line, before a blank, or on the line of the condition.
  void remove_comments() {
    const bool is_c = std::ranges::any_of(lines_, [](const SourceLine& line) { return line.text.starts_with("C "); });
    std::string_view end;  // what ends the comment that has begun; empty: none has
    for (SourceLine& line : lines_) {
      std::string kept;
      for (std::size_t i = 0; i < line.text.size(); ++i) {
        const std::string_view two = std::string_view(line.text).substr(i, 2);
        if (end.empty() && two == "//") break;
        const bool before_blank = i + 2 >= line.text.size() || line.text[i + 2] == ' ';
        const bool begins = !is_c || before_blank || stripped(kept).empty() || begins_condition(stripped(kept));
        if (end.empty() && two == "(*" && begins) end = "*)";
        if (end.empty() && two == "/*") end = "*/";
        if (end.empty()) kept += line.text[i];
        if (two == end) {
          end = {};
          ++i;
        }
      }
      line.text = stripped(kept);
    }
    std::erase_if(lines_, [](const SourceLine& line) { return line.text.empty(); });
  }

  [[noreturn]] void refuse(const SourceLine& line, const std::string& text) const {
    throw trace::TraceError(
        fmt::format("{}: line {}: {}: \"{}\"", file_, line.number, text, visible_name(line.text.substr(0, 60))));
  }
  [[noreturn]] void refuse(const std::string& text) const { throw trace::TraceError(file_ + ": " + text); }

  const SourceLine& peek() const {
    if (at_ == lines_.size()) refuse("the test is cut off");
    return lines_[at_];
  }

  void head() {
    const SourceLine& line = peek();
    std::string_view text = line.text;
    test_.architecture = take_word(text);
    test_.name = take_word(text);
    if (std::ranges::find(kArchitectures, test_.architecture) == kArchitectures.end())
      refuse(line, fmt::format("{}'s instructions are not known here: expected one of {}, and the test's name",
                               test_.architecture, fmt::join(kArchitectures, ", ")));
    if (test_.name.empty()) refuse(line, "the test has no name");
    ++at_;
    if (peek().text.starts_with('"')) {
      const std::string& title = peek().text;
      test_.title = title.substr(1, title.rfind('"') > 0 ? title.rfind('"') - 1 : title.size());
      ++at_;
    }
    // Skips lines of test generators, such as "Cycle=Rfe PodRR Fre PodWW".
    while (at_ < lines_.size() && !peek().text.starts_with('{')) ++at_;
  }

  // Parses "{ x=0; 0:X1=y; int z; uint64_t 1:rax; }", also across lines.
  void initial_values() {
    std::string all;
    const SourceLine first = peek();
    for (;; ++at_) {
      all += peek().text + " ";
      if (all.find('}') != std::string::npos) break;
    }
    ++at_;
    for (const std::string& part : split_text(all.substr(1, all.find('}') - 1), ";")) {
      if (!part.empty()) initial_value(first, part);
    }
  }

  void initial_value(const SourceLine& line, const std::string& part) {
    const std::size_t equals = part.find('=');
    std::string_view declared = stripped(std::string_view(part).substr(0, equals));
    const std::string left(take_last_word(declared));  // the name; in a declaration, its type precedes it
    const std::string right(equals == std::string::npos ? "0" : stripped(part.substr(equals + 1)));
    const std::size_t colon = left.find(':');
    if (colon == std::string::npos) {
      if (litmus_number(right) != 0) refuse(line, "a variable that does not start at 0 has no counterpart here");
      return;
    }
    const auto thread = decimal(std::string_view(left).substr(left[0] == 'P' ? 1 : 0, colon - (left[0] == 'P' ? 1 : 0)));
    if (!thread || *thread >= kMostThreads) refuse(line, "expected THREAD:REGISTER=VALUE");
    builder_.begin_thread(static_cast<int>(*thread));
    Held& held = builder_.held(register_name(left.substr(colon + 1)));
    if (const auto number = litmus_number(right)) {
      held = {Held::What::constant, "", *number};
    } else {
      held = {Held::What::address, right.substr(std::min(right.find_first_not_of("&*"), right.size())), 0};
    }
  }

  [[nodiscard]] std::string register_name(const std::string& text) const {
    if (is_of_kernel()) return text;
    return test_.architecture == "AArch64" ? aarch64_register(text) : x86_register(text);
  }

  [[nodiscard]] bool is_of_kernel() const { return test_.architecture == "C" || test_.architecture == "LISA"; }

  void columns() {
    const SourceLine& head = peek();
    const std::vector<std::string> names = cells_of(head);
    if (names.empty() || names.size() > kMostThreads || !names[0].starts_with("P0"))
      refuse(head, fmt::format("expected the threads' names P0 | P1 ...;, {} at most", kMostThreads));
    for (std::size_t i = 0; i < names.size(); ++i) builder_.begin_thread(static_cast<int>(i));
    const auto instruction = test_.architecture == "AArch64" ? aarch64_instruction
                             : is_of_kernel()                ? lisa_instruction
                                                             : x86_instruction;
    for (++at_; at_ < lines_.size() && peek().text.ends_with(';') && !begins_condition(peek().text); ++at_) {
      const std::vector<std::string> cells = cells_of(peek());
      if (cells.size() > names.size()) refuse(peek(), fmt::format("more columns than the {} threads", names.size()));
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (cells[i].empty()) continue;
        builder_.begin_thread(static_cast<int>(i));
        translated(peek(), [&] { instruction(builder_, cells[i]); });
      }
    }
  }

  static std::vector<std::string> cells_of(const SourceLine& line) {
    std::string_view text = line.text;
    if (text.ends_with(';')) text.remove_suffix(1);
    return split_text(text, "|");
  }

  template <class Translate>
  void translated(const SourceLine& line, const Translate& translate) const {
    try {
      translate();
    } catch (const std::invalid_argument& problem) {
      refuse(line, std::string("has no counterpart here: ") + problem.what());
    }
  }

  // Parses functions: "P0(int *x, int *y) { ... }".
  void functions() {
    while (at_ < lines_.size() && peek().text.starts_with('P')) {
      const auto number = decimal(std::string_view(peek().text).substr(1, peek().text.find_first_of("( ") - 1));
      if (!number || *number >= kMostThreads) refuse(peek(), "expected a function P0, P1, ...");
      builder_.begin_thread(static_cast<int>(*number));
      std::string before;
      bool open = false, closed = false;
      for (; at_ < lines_.size() && !closed; ++at_) {
        std::string text = peek().text;
        if (!open && text.find('{') == std::string::npos) continue;
        if (!open) text.erase(0, text.find('{') + 1);
        open = true;
        closed = text.find('}') != std::string::npos;
        if (closed) text.resize(text.find('}'));
        if (text.find('{') != std::string::npos) refuse(peek(), "branches and loops have no counterpart here");
        const SourceLine& line = peek();
        before += text + " ";
        for (std::size_t end = before.find(';'); end != std::string::npos; end = before.find(';')) {
          translated(line, [&] { kernel_statement(builder_, std::string_view(before).substr(0, end)); });
          before.erase(0, end + 1);
        }
      }
      if (!closed) refuse("a function is cut off");
      if (!stripped(before).empty()) refuse(lines_[at_ - 1], "the statement has no `;`");
    }
  }

  // Parses the condition: "exists (0:EAX=0 /\ 1:EAX=0)".
  void condition() {
    while (at_ < lines_.size() && !begins_condition(peek().text)) {
      const std::string& text = peek().text;
      if (!text.starts_with("locations") && !text.starts_with("filter") && !text.starts_with('['))
        refuse(peek(), "expected exists (...)");
      if (text.starts_with("filter")) refuse(peek(), "a filter has no counterpart here");
      ++at_;
    }
    if (at_ == lines_.size()) refuse("the condition is missing: exists (...)");
    const SourceLine first = peek();
    for (; at_ < lines_.size(); ++at_) test_.condition += (test_.condition.empty() ? "" : " ") + peek().text;
    LitmusCondition condition;
    try {
      condition = parse_condition(test_.condition);
    } catch (const std::invalid_argument& problem) {
      refuse(first, problem.what());
    }
    test_.is_for_all = condition.is_for_all;
    for (const auto& terms : condition.alternatives) {
      if (!test_.asks.empty()) test_.asks += " | ";
      for (const ConditionTerm& term : terms) ask(first, term, &term == terms.data());
    }
  }

  void ask(const SourceLine& line, const ConditionTerm& term, bool is_first) {
    const std::string& left = term.name;
    const std::size_t colon = left.find(':');
    const std::string value = fmt::format("{}={}", term.differs ? "!" : "", term.value);
    if (!is_first) test_.asks += " ";
    if (colon == std::string::npos) {
      test_.asks += fmt::format("{}{}", builder_.letter(left), value);
      return;
    }
    const auto thread = decimal(std::string_view(left).substr(left[0] == 'P' ? 1 : 0, colon - (left[0] == 'P' ? 1 : 0)));
    const Held* held = thread && *thread < kMostThreads
                           ? builder_.final_value(static_cast<int>(*thread), register_name(left.substr(colon + 1)))
                           : nullptr;
    if (held == nullptr || held->what != Held::What::loaded)
      refuse(line, fmt::format("{} is not a register that its thread loads", left));
    test_.asks += fmt::format("r{}{}", held->number, value);
  }

  void check() const {
    for (std::size_t i = 0; i < test_.threads.size(); ++i) {
      if (test_.threads[i].empty()) refuse(fmt::format("thread P{} does nothing", i));
    }
    workloads::litmus_test_of(test_.joined_threads(), test_.asks);
  }

  void choose_model() {
    const bool is_x86 = test_.architecture.starts_with("X86");
    test_.consistency = is_x86 ? "tso" : "ia64";
    if (is_x86) return;
    test_.unmodelled = test_.is_of_c11 ? "C11" : is_of_kernel() ? "the Linux kernel" : "AArch64";
  }

  static constexpr std::size_t kMostThreads = 8;

  std::string file_;
  std::vector<SourceLine> lines_;
  std::size_t at_ = 0;
  HerdTest test_;
  TestBuilder builder_{test_};
};

Likeness litmus_likeness(const Excerpt& excerpt) {
  // Passes over comments in front of the head, and one behind it.
  bool is_comment = false;
  const auto first = std::ranges::find_if(excerpt.lines, [&is_comment](const Excerpt::Line& line) {
    const bool was_comment = is_comment || line.text.starts_with("(*");
    is_comment = was_comment && line.text.find("*)") == line.text.npos;
    return !was_comment;
  });
  if (first == excerpt.lines.end()) return {};
  std::string_view text = first->text;
  text = stripped(text.substr(0, text.find("(*")));
  const std::string_view architecture = take_word(text);
  const bool known = std::ranges::find(kArchitectures, architecture) != kArchitectures.end() ||
                     std::ranges::find(kOtherArchitectures, architecture) != kOtherArchitectures.end();
  const bool is_named = !text.empty() && text.find(' ') == text.npos;
  const bool has_parts = excerpt.has("{") && (excerpt.has("exists") || excerpt.has("forall") || excerpt.has("P0"));
  return certain_if(known && is_named && has_parts,
                    "it begins with an architecture and a name, and has threads or a condition");
}

}  // namespace

std::string HerdTest::joined_threads() const {
  return fmt::format("{}", fmt::join(threads, " || "));
}

HerdTest read_herd_test(const std::string& text, const std::string& file) {
  try {
    return HerdReader(text, file).read();
  } catch (const std::invalid_argument& problem) {
    throw trace::TraceError(file + ": " + problem.what());
  }
}

Form litmus_form() {
  return {.name = "litmus",
          .kind = FormKind::litmus,
          .what = "herd's litmus test, for x86, AArch64, LISA or C with the kernel's or C11's names",
          .marks = "an architecture and a name, { ... }, threads, exists (...)",
          .likeness = litmus_likeness,
          .joins_files = true};
}

}  // namespace linebounce::sim
