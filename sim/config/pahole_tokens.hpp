// pahole's output as words, marks and comments, from which `pahole.cpp` makes structures.
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

// Marks have one character except `::`. The last token is the end. `file`: the text's name in messages. Errors: ConfigError for
// a comment that is cut off.
std::vector<Token> tokens_of(const std::string& text, const std::string& file);

// Takes a number from the start of `text`, with the blanks before it.
std::optional<int> take_number(std::string_view& text);

struct Bytes {
  int offset = 0, size = 0;
};

// The place in the comment after a member: "/*    44    28 */", or for a bitfield "/*    40: 3  4 */".
std::optional<Bytes> place_in(const Token& comment);

// The size in the comment at the end of a structure: "/* size: 136, cachelines: 3, members: 17 */"
std::optional<int> size_in(const Token& comment);

}  // namespace linebounce::sim::pahole
