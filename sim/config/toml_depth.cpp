#include "sim/config/toml_depth.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

// Goes through the text token by token, as far as depth needs it.
class DepthScanner {
 public:
  DepthScanner(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void scan() {
    while (at_ < text_.size()) {
      switch (text_[at_]) {
        case '#': at_ = std::min(text_.find('\n', at_), text_.size()); break;
        case '"':
        case '\'': skip_string(text_[at_]); break;
        default: take(text_[at_]); ++at_;
      }
    }
  }

 private:
  void take(char c) {
    if (c == '.') {
      if (++dots_ >= kDeepestKey) refuse(fmt::format("a key of more than {} parts", kDeepestKey));
      return;
    }
    if (c == '[' || c == '{') {
      if (++open_ > kDeepestValue) refuse(fmt::format("more than {} arrays and tables within each other", kDeepestValue));
    } else if (c == ']' || c == '}') {
      open_ = std::max(0, open_ - 1);
    }
    const bool within_key = c != '\n' && c != '=' && c != ',' && c != '[' && c != '{';
    if (!within_key) dots_ = 0;
  }

  void skip_string(char quote) {
    const std::string three(3, quote);
    if (text_.substr(at_, 3) == three) {
      skip_to(three, quote == '"');
      for (int more = 0; more < 2 && at_ < text_.size() && text_[at_] == quote; ++more) ++at_;  // """a""""" ends with a""
    } else {
      skip_to(three.substr(0, 1), quote == '"');
    }
  }

  // Over a string between these; in some a backslash takes the next character with it.
  void skip_to(std::string_view end, bool escapes) {
    at_ += end.size();
    while (at_ < text_.size() && text_.substr(at_, end.size()) != end) {
      if (end.size() == 1 && text_[at_] == '\n') return;  // not closed, as the parser will say
      at_ += escapes && text_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_ + end.size(), text_.size());
  }

  [[noreturn]] void refuse(const std::string& what) const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
    throw ConfigError(fmt::format("{}:{}:{}: {}", file_, line, column, what));
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  int dots_ = 0;  // of the key that is being read
  int open_ = 0;
};

}  // namespace

void check_depth(std::string_view text, const std::string& file) {
  DepthScanner(text, file).scan();
}

}  // namespace linebounce::sim
