#include "types/pahole_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>

#include "models/text/trimmed.hpp"
#include "types/listing.hpp"
#include "types/member_declaration.hpp"

namespace linebounce::types::pahole {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::array<std::string_view, 3> kLabels = {"public", "protected", "private"};

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// pahole's complaints, which a user has redirected into the listing: "die__process_class: tag not supported 0x2f!"
bool is_complaint(std::string_view line) {
  const std::size_t colon = line.find(": ");
  if (colon == line.npos || colon == 0) return false;
  const std::string_view word = line.substr(0, colon);
  return std::ranges::all_of(word, is_letter) && (word.find("__") != word.npos || word == "dwarf_expr");
}

std::string_view without_complaints(std::string_view statement) {
  for (std::size_t end = statement.find('\n'); end != statement.npos; end = statement.find('\n')) {
    if (!is_complaint(trimmed(statement.substr(0, end)))) break;
    statement = trimmed(statement.substr(end + 1));
  }
  return statement;
}

// "/* --- cacheline 2 boundary (128 bytes) was 8 bytes ago --- */" implies lines of 64 bytes.
std::optional<std::int64_t> line_in_boundary(std::string_view comment) {
  constexpr std::string_view kBoundary = "cacheline ", kBytes = "boundary (";
  const std::size_t begin = comment.find(kBoundary), bytes_at = comment.find(kBytes);
  if (begin == comment.npos || bytes_at == comment.npos) return std::nullopt;
  std::string_view number_text = comment.substr(begin + kBoundary.size()),
                   bytes_text = comment.substr(bytes_at + kBytes.size());
  const auto number = take_number(number_text), bytes = take_number(bytes_text);
  if (!number || !bytes || *number < 1 || *bytes % *number != 0) return std::nullopt;
  return *bytes / *number;
}

// The number that follows `word` in the text, such as 40 in "last cacheline: 40 bytes".
std::optional<std::int64_t> figure_behind(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == text.npos) return std::nullopt;
  std::string_view rest = text.substr(at + word.size());
  return take_number(rest);
}

bool is_line_size(std::int64_t bytes) {
  return bytes >= 8 && bytes <= 4096 && std::has_single_bit(static_cast<std::uint64_t>(bytes));
}

}  // namespace

PaholePart PaholeText::take() {
  PaholePart part = part_;
  next();
  return part;
}

void PaholeText::refuse(const TextPosition& at, std::string_view text) const {
  throw ReadError(fmt::format("{}:{}:{}: pahole: {}", file_, at.line, at.column, text));
}

void PaholeText::advance(std::size_t to) {
  for (; at_ < to; ++at_) {
    const bool is_new_line = text_[at_] == '\n';
    position_.line += is_new_line ? 1 : 0;
    position_.column = is_new_line ? 1 : position_.column + 1;
  }
}

// A brace ends the line. One with a word behind it belongs to a name in Rust: {closure_env#0}.
bool PaholeText::opens_block(std::size_t at) const {
  const std::string_view rest = text_.substr(at + 1);
  const std::string_view line = rest.substr(0, rest.find('\n'));
  return line.empty() || !is_letter(line.front()) || line.find('}') == line.npos;
}

bool PaholeText::begins_comment_line(std::size_t at) const {
  const std::size_t before = text_.find_last_not_of(" \t", at == 0 ? 0 : at - 1);
  return at > at_ && text_.substr(at, 2) == "/*" && before != text_.npos && text_[before] == '\n';
}

// Where the statement that begins here ends: at its semicolon, at a brace, or at a comment on the next line, in front of which
// stands no statement.
std::size_t PaholeText::end_of_statement() const {
  int names = 0;  // open braces that belong to names
  for (std::size_t i = at_; i < text_.size(); ++i) {
    const char c = text_[i];
    if (c == '{' && !opens_block(i)) {
      ++names;
    } else if (c == '}' && names > 0) {
      --names;
    } else if (c == ';' || c == '{' || c == '}' || (c == '/' && begins_comment_line(i))) {
      return i;
    }
  }
  return text_.size();
}

void PaholeText::skip_blanks_and_notes() {
  const auto end_of_line = [this] { return std::min(text_.find('\n', at_), text_.size()); };
  if (part_.kind == PaholePartKind::comment) {
    // Somebody's remark behind pahole's comment: "<=== here"
    const std::string_view rest = text_.substr(at_, end_of_line() - at_);
    if (rest.find_first_of(";{}") == rest.npos && rest.find("/*") == rest.npos) advance(end_of_line());
  }
  for (;;) {
    advance(std::min(text_.find_first_not_of(kBlanks, at_), text_.size()));
    if (text_.substr(at_, 2) != "//") return;
    advance(end_of_line());
  }
}

void PaholeText::next() {
  skip_blanks_and_notes();
  part_ = {PaholePartKind::end, {}, position_};
  if (at_ == text_.size()) return;
  if (text_.substr(at_, 2) == "/*") {
    const std::size_t end = text_.find("*/", at_ + 2);
    if (end == text_.npos) refuse(position_, "the text is cut off in this comment: expected */");
    part_ = {PaholePartKind::comment, text_.substr(at_ + 2, end - at_ - 2), position_};
    return advance(end + 2);
  }
  for (const std::string_view label : kLabels) {
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with(label) || !rest.substr(label.size()).starts_with(':') || rest.substr(label.size()).starts_with("::"))
      continue;
    part_ = {PaholePartKind::label, label, position_};
    return advance(at_ + label.size() + 1);
  }
  const std::size_t end = end_of_statement();
  const char mark = end < text_.size() ? text_[end] : '\0';
  part_.text = without_complaints(trimmed(text_.substr(at_, end - at_)));
  if (mark == '\0') {
    advance(end);
    part_.at = position_;
    return;
  }
  const bool is_bare = part_.text.empty();
  part_.kind = mark == ';' ? PaholePartKind::declaration : mark == '{' ? PaholePartKind::opening : PaholePartKind::closing;
  if (part_.text.find("/*") != std::string_view::npos || mark == '/' || (mark == '}' && !is_bare))
    part_.kind = PaholePartKind::unfinished;
  advance((mark == '}' && !is_bare) || mark == '/' ? end : end + 1);
}

void PaholeText::skip_structure() {
  static constexpr std::array<std::string_view, 4> kBegins = {"struct ", "class ", "union ", "typedef "};
  const auto begins = [this](std::size_t at) {
    return std::ranges::any_of(kBegins, [&](std::string_view word) { return text_.substr(at).starts_with(word); });
  };
  std::size_t at = text_.find('\n', at_);
  while (at != text_.npos && !begins(at + 1)) at = text_.find('\n', at + 1);
  advance(at == text_.npos ? text_.size() : at);
  next();
}

std::optional<PaholePlace> place_in(std::string_view comment) {
  PaholePlace place;
  const auto offset = take_number(comment);
  if (!offset) return std::nullopt;
  place.offset = *offset;
  if (comment.starts_with(':')) {
    comment.remove_prefix(1);
    place.bit = take_number(comment);
    if (!place.bit) return std::nullopt;
  }
  const auto size = take_number(comment);
  if (!size || !trimmed(comment).empty()) return std::nullopt;
  place.size = *size;
  return place;
}

std::optional<std::int64_t> size_in(std::string_view comment) {
  constexpr std::string_view kSize = "size:";
  comment = trimmed(comment);
  if (!comment.starts_with(kSize)) return std::nullopt;
  comment.remove_prefix(kSize.size());
  return take_number(comment);
}

// N of a comment "BEFORE N UNIT..."
static std::optional<std::int64_t> figure_of(std::string_view comment, std::string_view before, std::string_view unit) {
  comment = trimmed(comment);
  if (!comment.starts_with(before)) return std::nullopt;
  comment.remove_prefix(before.size());
  const auto figure = take_number(comment);
  return figure && trimmed(comment).starts_with(unit) ? figure : std::nullopt;
}

std::optional<std::int64_t> free_bits_in(std::string_view comment) {
  const auto hole = figure_of(comment, "XXX ", "bit");
  return hole ? hole : figure_of(comment, "bit_padding:", "bit");
}

std::optional<std::int64_t> hole_bytes_in(std::string_view comment) {
  return figure_of(comment, "XXX ", "byte");
}

std::optional<std::int64_t> padding_bytes_in(std::string_view comment) {
  return figure_of(comment, "padding:", "");
}

std::optional<std::int64_t> members_in(std::string_view comment) {
  return size_in(comment) ? figure_behind(comment, " members:") : std::nullopt;
}

std::optional<int> line_bytes_in(std::string_view text) {
  for (std::size_t at = text.find("/*"); at != text.npos; at = text.find("/*", at + 2)) {
    const std::size_t end = std::min(text.find("*/", at), text.size());
    const auto bytes = line_in_boundary(text.substr(at, end - at));
    if (bytes && is_line_size(*bytes)) return static_cast<int>(*bytes);
  }
  // Without such a comment, by the sizes at the end of a structure of two lines or more.
  for (std::size_t at = text.find("size: "); at != text.npos; at = text.find("size: ", at + 1)) {
    const std::string_view about = text.substr(at, text.find("\n}", at) - at);
    const auto size = figure_behind(about, "size: "), lines = figure_behind(about, "cachelines: ");
    const auto last = figure_behind(about, "last cacheline: ");
    if (!size || !lines || !last || *lines < 2 || (*size - *last) % (*lines - 1) != 0) continue;
    if (const std::int64_t bytes = (*size - *last) / (*lines - 1); is_line_size(bytes)) return static_cast<int>(bytes);
  }
  return std::nullopt;
}

}  // namespace linebounce::types::pahole
