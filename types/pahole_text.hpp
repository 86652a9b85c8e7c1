// Splits pahole's output into statements and comments. pahole.cpp makes structures of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace linebounce::types::pahole {

struct TextPosition {
  std::int64_t line = 1, column = 1;
};

enum class PaholePartKind : std::uint8_t {
  declaration,  // "int count", up to its semicolon
  opening,      // "struct job", up to its brace
  closing,      // a brace alone
  label,        // "public"
  comment,      // what stands between /* and */
  unfinished,   // a declaration without its semicolon
  end,
};

struct PaholePart {
  PaholePartKind kind = PaholePartKind::end;
  std::string_view text{};
  TextPosition at{};
};

// Walks through the text. Errors: ReadError for a comment that is cut off.
class PaholeText {
 public:
  PaholeText(std::string_view text, std::string file) : text_(text), file_(std::move(file)) { next(); }

  [[nodiscard]] const PaholePart& peek() const { return part_; }
  PaholePart take();
  // Goes on behind the structure that begins at `begin`: where a line opens another one. Used when it can't be read.
  void skip_structure();
  // "FILE:LINE:COLUMN: pahole: TEXT"
  [[noreturn]] void refuse(const TextPosition& at, std::string_view text) const;

 private:
  void next();
  void skip_blanks_and_notes();
  void advance(std::size_t to);
  [[nodiscard]] std::size_t end_of_statement() const;
  [[nodiscard]] bool opens_block(std::size_t at) const;
  [[nodiscard]] bool begins_comment_line(std::size_t at) const;

  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
  TextPosition position_;
  PaholePart part_;
};

struct PaholePlace {
  std::int64_t offset = 0, size = 0;  // bytes
  std::optional<std::int64_t> bit{};  // of a bit-field, from the offset
};

// "    44    28 ", or "    40: 3  4 " for a bit-field. None for any other comment.
std::optional<PaholePlace> place_in(std::string_view comment);

// The size in the comment at the end of a structure: " size: 136, cachelines: 3, members: 17 ".
std::optional<std::int64_t> size_in(std::string_view comment);

// The free bits that a comment states: "XXX 4 bits hole, try to pack", "bit_padding: 13 bits".
std::optional<std::int64_t> free_bits_in(std::string_view comment);

// The bytes of a hole that a comment states: "XXX 3 bytes hole, try to pack"; and of the padding at the end: "padding: 4".
std::optional<std::int64_t> hole_bytes_in(std::string_view comment);
std::optional<std::int64_t> padding_bytes_in(std::string_view comment);

// The number of members in the comment at the end of a structure.
std::optional<std::int64_t> members_in(std::string_view comment);

// The cache line that pahole assumed, by its comments on line boundaries and sizes; none if no comment tells.
std::optional<int> line_bytes_in(std::string_view text);

}  // namespace linebounce::types::pahole
