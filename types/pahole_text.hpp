// Splits pahole's output into statements and comments. pahole.cpp makes structures of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace linebounce::types::pahole {

struct Position {
  std::int64_t line = 1, column = 1;
};

enum class PartKind : std::uint8_t {
  declaration,  // "int count", up to its semicolon
  opening,      // "struct job", up to its brace
  closing,      // a brace alone
  label,        // "public"
  comment,      // what stands between /* and */
  unfinished,   // a declaration without its semicolon
  end,
};

struct Part {
  PartKind kind = PartKind::end;
  std::string_view text{};
  Position at{};
};

// Walks through the text. Errors: ReadError for a comment that is cut off.
class Parts {
 public:
  Parts(std::string_view text, std::string file) : text_(text), file_(std::move(file)) { next(); }

  [[nodiscard]] const Part& peek() const { return part_; }
  Part take();
  // Goes on behind the structure that begins at `begin`: where a line opens another one. Used when it can't be read.
  void skip_structure();
  // "FILE:LINE:COLUMN: pahole: TEXT"
  [[noreturn]] void refuse(const Position& at, std::string_view text) const;

 private:
  void next();
  void advance(std::size_t to);
  [[nodiscard]] std::size_t end_of_statement() const;
  [[nodiscard]] bool opens_block(std::size_t at) const;

  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
  Position position_;
  Part part_;
};

struct Place {
  std::int64_t offset = 0, size = 0;  // bytes
  std::optional<std::int64_t> bit{};  // of a bit-field, from the offset
};

// "    44    28 ", or "    40: 3  4 " for a bit-field. None for any other comment.
std::optional<Place> place_in(std::string_view comment);

// The size in the comment at the end of a structure: " size: 136, cachelines: 3, members: 17 ".
std::optional<std::int64_t> size_in(std::string_view comment);

// The cache line that pahole assumed, by its comments on line boundaries and sizes; none if no comment tells.
std::optional<int> line_bytes_in(std::string_view text);

}  // namespace linebounce::types::pahole
