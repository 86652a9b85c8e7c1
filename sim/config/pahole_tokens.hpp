// What pahole prints, as words, marks and comments: the text before `pahole.cpp` makes structures of it.
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

// Marks have one character but for `::`. The last token is the end. `file` is what messages call the text. Errors: ConfigError
// for a comment that is cut off.
std::vector<Token> tokens_of(const std::string& text, const std::string& file);

// A number at the start of `text`, which is taken away with the blanks before it.
std::optional<int> take_number(std::string_view& text);

struct Bytes {
  int offset = 0, size = 0;
};

// What a comment says of the member before it: "/*    44    28 */", or of a bitfield "/*    40: 3  4 */".
std::optional<Bytes> place_in(const Token& comment);

// And at the end of a structure: "/* size: 136, cachelines: 3, members: 17 */"
std::optional<int> size_in(const Token& comment);

}  // namespace linebounce::sim::pahole
