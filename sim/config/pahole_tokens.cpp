#include "sim/config/pahole_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "sim/config/settings.hpp"

namespace linebounce::sim::pahole {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.';  // as in _vptr.Base
}

// Splits C as pahole prints it into words, punctuation marks and comments. The comments contain the offsets.
class Scanner {
 public:
  Scanner(const std::string& text, const std::string& file) : text_(text), file_(file) {}

  std::vector<Token> scan() {
    std::vector<Token> tokens;
    for (skip_blanks(); at_ < text_.size(); skip_blanks()) tokens.push_back(next());
    tokens.push_back({TokenKind::end, "", line_, column_});
    return tokens;
  }

 private:
  void advance() {
    const bool new_line = text_[at_++] == '\n';
    line_ += new_line ? 1 : 0;
    column_ = new_line ? 1 : column_ + 1;
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) advance();
  }

  Token next() {
    Token token{TokenKind::mark, "", line_, column_};
    if (text_.compare(at_, 2, "/*") == 0) {
      const auto end = text_.find("*/", at_ + 2);
      if (end == std::string::npos)
        fail({fmt::format("{}:{}:{}", file_, line_, column_)}, "pahole", "the text is cut off in this comment: expected */");
      token.kind = TokenKind::comment;
      take(token, end + 2);
      return token;
    }
    std::size_t end = at_ + (text_.compare(at_, 2, "::") == 0 ? 2 : 1);
    if (is_word(text_[at_])) {
      token.kind = TokenKind::word;
      while (end < text_.size() && is_word(text_[end])) ++end;
    }
    take(token, end);
    return token;
  }

  void take(Token& token, std::size_t end) {
    token.text = text_.substr(at_, end - at_);
    while (at_ < end) advance();
  }

  const std::string& text_;
  const std::string& file_;
  std::size_t at_ = 0;
  int line_ = 1, column_ = 1;
};

}  // namespace

std::vector<Token> tokens_of(const std::string& text, const std::string& file) {
  return Scanner(text, file).scan();
}

std::optional<int> take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n"), text.size()));
  const bool is_hexadecimal = text.starts_with("0x");  // pahole --hex
  if (is_hexadecimal) text.remove_prefix(2);
  constexpr int kHexadecimal = 16, kDecimal = 10;
  int number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, is_hexadecimal ? kHexadecimal : kDecimal);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(end - text.data());
  return number;
}

std::optional<Bytes> place_in(const Token& comment) {
  std::string_view text(comment.text);
  text.remove_prefix(2);
  const auto offset = take_number(text);
  if (!offset) return std::nullopt;
  if (text.starts_with(':')) {
    text.remove_prefix(1);
    if (!take_number(text)) return std::nullopt;
  }
  const auto size = take_number(text);
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  if (!size || text != "*/") return std::nullopt;
  return Bytes{*offset, *size};
}

std::optional<int> size_in(const Token& comment) {
  constexpr std::string_view kSize = "/* size:";
  std::string_view text(comment.text);
  if (!text.starts_with(kSize)) return std::nullopt;
  text.remove_prefix(kSize.size());
  return take_number(text);
}

}  // namespace linebounce::sim::pahole
