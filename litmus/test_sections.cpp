// Comments are "(* ... *)", which nest, "/* ... */" and "// ...". In a C function "(*" is no comment: it begins an argument, as
// in f(*x).
#include "litmus/test_sections.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "forms/line_file.hpp"
#include "forms/lock_statistics.hpp"
#include "litmus/scanner.hpp"
#include "models/text/quote_marks.hpp"

namespace linebounce::sim::litmus {
namespace {

class SectionCutter {
 public:
  SectionCutter(std::string_view text, TestSections& sections) : text_(text), sections_(sections) {}

  void cut() {
    up_to(
        sections_.head, [this] { return at(0) == '{'; }, "the initial values, { ... }");
    is_c_ = trimmed(sections_.head.text).starts_with("C ");
    ++at_;
    up_to(
        sections_.initial, [this] { return at(0) == '}'; }, "the `}` of the initial values");
    ++at_;
    in_body_ = true;
    up_to(
        sections_.body, [this] { return depth_ == 0 && begins_end(); }, "the condition, exists (...)");
    in_body_ = false;
    up_to(
        sections_.end, [this] { return at_ == text_.size(); }, "");
  }

 private:
  [[nodiscard]] char at(std::size_t further) const { return at_ + further < text_.size() ? text_[at_ + further] : '\0'; }
  [[nodiscard]] bool next_is(std::string_view symbol) const { return text_.substr(at_).starts_with(symbol); }

  template <class IsEnd>
  void up_to(TestSection& section, const IsEnd& is_end, const char* wanted) {
    section.line = line_;
    while (!is_end()) {
      if (at_ == text_.size()) throw std::invalid_argument(std::string("the test is cut off: expected ") + wanted);
      if (begins_comment()) {
        comment(section);
      } else if (text_[at_] == '"') {
        do take(section);
        while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n');
        if (at(0) == '"') take(section);
      } else {
        if (in_body_ && is_c_ && text_[at_] == '{') ++depth_;
        if (in_body_ && is_c_ && text_[at_] == '}') --depth_;
        take(section);
      }
    }
  }

  void take(TestSection& section) {
    if (text_[at_] == '\n') ++line_;
    section.text += text_[at_++];
  }

  [[nodiscard]] bool begins_comment() const {
    const bool in_c = in_body_ && is_c_ && depth_ > 0;
    return next_is("/*") || next_is("//") || (next_is("(*") && !in_c && !is_argument());
  }
  // "(*x)" of a function's parameters, or in a condition.
  [[nodiscard]] bool is_argument() const {
    return in_body_ && is_c_ && is_name_start(at(2)) && at_ > 0 && is_name_part(text_[at_ - 1]);
  }

  // Replaces the comment by blanks, and keeps its lines.
  void comment(TestSection& section) {
    const bool is_line = next_is("//"), nests = next_is("(*");
    int open = 0;
    do {
      if (is_line && text_[at_] == '\n') return;
      int length = 1;
      if (nests && next_is("(*")) ++open, length = 2;
      if (!nests && !is_line && open == 0)
        open = 1, length = 2;
      else if (!is_line && next_is(nests ? "*)" : "*/"))
        --open, length = 2;
      for (; length > 0 && at_ < text_.size(); --length) {
        if (text_[at_] == '\n') ++line_;
        section.text += text_[at_] == '\n' ? '\n' : ' ';
        ++at_;
      }
    } while (at_ < text_.size() && (is_line || open > 0));
  }

  // Whether the line that begins here is the condition's, or one of what stands before it.
  [[nodiscard]] bool begins_end() const {
    std::size_t begin = at_;
    while (begin > 0 && (text_[begin - 1] == ' ' || text_[begin - 1] == '\t')) --begin;
    if (begin > 0 && text_[begin - 1] != '\n' && text_[begin - 1] != ';' && text_[begin - 1] != '}' && text_[begin - 1] != ')')
      return false;
    constexpr std::array<std::string_view, 6> kWords = {"exists", "~exists", "~ exists", "forall", "locations", "filter"};
    return std::ranges::any_of(kWords,
                               [this](std::string_view word) { return next_is(word) && !is_name_part(at(word.size())); });
  }

  std::string_view text_;
  TestSections& sections_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool is_c_ = false, in_body_ = false;
  int depth_ = 0;  // of braces in C
};

}  // namespace

TestSections::TestSections(const std::string& text) : lines(unquoted_lines(text)) {
  std::string joined;
  for (const std::string& line : lines) joined += line + "\n";
  SectionCutter(joined, *this).cut();
}

}  // namespace linebounce::sim::litmus
