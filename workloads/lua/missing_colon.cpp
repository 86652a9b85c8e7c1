#include "workloads/lua/missing_colon.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "workloads/lua/cpu_functions.hpp"
#include "workloads/lua/lua_error.hpp"

namespace linebounce::workloads {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// A Lua text as tokens: names and numbers, and single characters. Leaves out blanks, comments and texts in quotes or brackets.
// REQUIRES: Lua has compiled the text.
class LuaTokens {
 public:
  explicit LuaTokens(std::string_view text) : text_(text) {}

  // Empty at the end.
  std::string_view next() {
    while (at_ < text_.size() && skip()) {
    }
    const std::size_t begin = at_;
    if (at_ < text_.size()) ++at_;
    while (begin < at_ && is_letter(text_[begin]) && at_ < text_.size() && is_letter(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

 private:
  // Goes past a blank, a comment or a text. Returns false if there is none.
  bool skip() {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("--")) {
      at_ += 2;
      if (!skip_brackets()) skip_past("\n");
      return true;
    }
    if (rest.front() == '"' || rest.front() == '\'') {
      for (++at_; at_ < text_.size() && text_[at_] != rest.front(); ++at_) at_ += text_[at_] == '\\' ? 1 : 0;
      ++at_;
      return true;
    }
    if (rest.front() == ' ' || (rest.front() >= '\t' && rest.front() <= '\r')) {
      ++at_;
      return true;
    }
    return skip_brackets();
  }

  // [[...]], [=[...]=], ...
  bool skip_brackets() {
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with('[')) return false;
    const std::size_t level = rest.find_first_not_of('=', 1);
    if (level == std::string_view::npos || rest[level] != '[') return false;
    skip_past("]" + std::string(level - 1, '=') + "]");
    return true;
  }

  void skip_past(std::string_view end) {
    const std::size_t found = text_.find(end, at_);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

void require_colons(const SourceFile& file) {
  LuaTokens tokens(file.text);
  std::array<std::string_view, 6> last;  // the latest tokens, the newest at the end
  for (;;) {
    std::shift_left(last.begin(), last.end(), 1);
    last.back() = tokens.next();
    if (last.back().empty()) return;
    const auto [before, cpu, dot, function, parenthesis, first] = last;
    const bool called = cpu == "cpu" && dot == "." && parenthesis == "(" && before != "." && before != ":";
    if (called && first != "cpu" && is_cpu_function(function)) {
      const auto line = 1 + std::count(file.text.data(), cpu.data(), '\n');
      throw LuaError(fmt::format("{}:{}: cpu.{}(...) takes its first argument for the CPU: write cpu:{}(...), with a colon",
                                 file.name(), line, function, function));
    }
  }
}

}  // namespace linebounce::workloads
