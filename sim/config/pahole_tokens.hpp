// Splits pahole's output into words, punctuation marks and comments. pahole.cpp makes structures from them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce::sim::pahole {

enum class TokenKind { word, mark, comment, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;
  int line = 1, column = 1;
};

// Splits the text into tokens. Each mark is one character, except `::`. The last token has kind `end`. `file`: the text's
// name in messages. Errors: ConfigError for a comment that is cut off.
std::vector<Token> tokens_of(const std::string& text, const std::string& file);

// Removes a number and the blanks before it from the start of `text`, and returns the number; none if there is none.
std::optional<int> take_number(std::string_view& text);

struct Bytes {
  int offset = 0, size = 0;
};

// Returns the offset and size in the comment after a member: "/*    44    28 */", or "/*    40: 3  4 */" for a bitfield.
std::optional<Bytes> place_in(const Token& comment);

// Returns the size in the comment at the end of a structure: "/* size: 136, cachelines: 3, members: 17 */".
std::optional<int> size_in(const Token& comment);

}  // namespace linebounce::sim::pahole
