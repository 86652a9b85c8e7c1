#include "sim/config/pahole.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <string_view>

#include "sim/config/layout_file.hpp"
#include "sim/config/pahole_tokens.hpp"
#include "sim/config/settings.hpp"
#include "workloads/program/layout_set.hpp"

namespace linebounce::sim {

using namespace workloads;

using pahole::Bytes;
using pahole::place_in;
using pahole::size_in;
using pahole::take_number;
using pahole::Token;
using pahole::TokenKind;
using pahole::tokens_of;

namespace {

constexpr std::string_view kAncestor = "<ancestor>";
constexpr int kDeepest = 64;  // depth of nested structures

// What braces contain: the members of a structure.
struct Body {
  std::vector<Field> fields;
  std::optional<int> size;  // only for the outermost
};

class Parser {
 public:
  Parser(std::vector<Token> tokens, const std::string& file) : tokens_(std::move(tokens)), file_(file) {}

  std::vector<Layout> parse() {
    std::vector<Layout> layouts;
    for (skip_comments(); peek().kind != TokenKind::end; skip_comments()) layouts.push_back(structure());
    if (layouts.empty()) refuse(peek(), "this text has no structure; expected `struct NAME {`, as pahole prints it");
    return layouts;
  }

 private:
  [[noreturn]] void refuse(const Token& token, const std::string& text) const {
    fail({fmt::format("{}:{}:{}", file_, token.line, token.column)}, "pahole", text);
  }

  [[noreturn]] void unexpected(const std::string& expected) const {
    const Token& found = peek();
    if (found.kind != TokenKind::end) refuse(found, fmt::format("expected {}, found {}", expected, found.text));
    refuse(found, fmt::format("the text is cut off{}: expected {}", within_, expected));
  }

  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  [[nodiscard]] bool is(std::string_view text) const { return peek().kind != TokenKind::comment && peek().text == text; }
  [[nodiscard]] bool is_aggregate() const { return is("struct") || is("union") || is("class"); }
  Token take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }

  void expect(std::string_view mark) {
    if (!is(mark)) unexpected(fmt::format("`{}`", mark));
    take();
  }

  void skip_comments() {
    while (peek().kind == TokenKind::comment) take();
  }

  void skip_ancestors() {
    while (!is("{") && !is(";") && peek().kind != TokenKind::end) take();
  }

  [[nodiscard]] bool has_place() const { return peek().kind == TokenKind::comment && place_in(peek()).has_value(); }

  // Reads `struct NAME {...};`, `union NAME {...};` or `typedef struct {...} NAME;`.
  Layout structure() {
    within_.clear();
    bitfields_.clear();
    ancestors_.clear();
    const Token begin = peek();
    const bool alias = is("typedef");
    if (alias) take();
    if (!is_aggregate()) unexpected("`struct NAME {`");
    const bool shares = is("union");
    take();
    std::string name;
    if (peek().kind == TokenKind::word) name = take().text;
    if (is(":")) skip_ancestors();
    within_ = fmt::format(" in {}, which begins in line {}", name.empty() ? "a structure" : name, begin.line);
    expect("{");
    Body inside = body();
    const std::vector<Token> behind = until_semicolon();
    // pahole before 2007 prints the size after the closing brace.
    if (!inside.size && peek().kind == TokenKind::comment) inside.size = size_in(peek());
    if (alias) name = declared_name(behind);
    if (name.empty()) refuse(begin, "this structure has no name");
    if (!names_.insert(name).second) refuse(begin, fmt::format("there are two structures {}", name));
    return finished(name, begin, inside, behind, shares);
  }

  Layout finished(const std::string& name, const Token& begin, const Body& inside, const std::vector<Token>& behind,
                  bool shares) const {
    Layout layout{.name = name, .alignment = 8, .fields = {}};
    layout.fields = shares ? std::vector<Field>{joined(inside.fields)} : inside.fields;
    int end = 0;
    for (const Field& field : layout.fields) end = std::max(end, field.offset + field.size);
    if (!inside.size && !shares) refuse(begin, fmt::format("{} has no comment `/* size: N, ... */` at its end", name));
    layout.size = inside.size.value_or(end);
    if (layout.size < 1 || layout.size > kLargestStructure)
      refuse(begin, fmt::format("{} has {} bytes; legal: 1 to {}", name, layout.size, kLargestStructure));
    if (end > layout.size) refuse(begin, fmt::format("{} has {} bytes, but a member of it ends at {}", name, layout.size, end));
    layout.alignment = std::max(layout.alignment, declared_alignment(behind));
    refuse_overlaps(layout, begin);
    return layout;
  }

  void refuse_overlaps(const Layout& layout, const Token& begin) const {
    for (std::size_t i = 1; i < layout.fields.size(); ++i) {
      const Field& field = layout.fields[i];
      const Field& before = layout.fields[i - 1];
      if (field.offset < before.offset + before.size)
        refuse(begin,
               fmt::format("{}: the members {} (bytes {} to {}) and {} (from byte {}) overlap and are in no union", layout.name,
                           before.name, before.offset, before.offset + before.size - 1, field.name, field.offset));
    }
  }

  // Reads members up to the closing brace.
  Body body() {
    Body inside;
    for (;;) {
      if (peek().kind == TokenKind::comment) {
        const Token comment = take();
        if (const auto size = size_in(comment)) inside.size = size;
        if (comment.text.find(kAncestor) != std::string::npos) ancestor(comment, inside.fields);
      } else if (is("}")) {
        take();
        join_bitfields(inside.fields);
        shorten_ancestors(inside.fields);
        return inside;
      } else if (peek().kind == TokenKind::end) {
        unexpected("a member or `}`");
      } else {
        member(inside.fields);
      }
    }
  }

  // Reads a base class, which stands in a comment: `/* struct base <ancestor>; */ /* 0 16 */`. It becomes one field.
  void ancestor(const Token& comment, std::vector<Field>& fields) {
    if (!has_place()) return;
    std::string_view name = std::string_view(comment.text).substr(0, comment.text.find(kAncestor));
    name = name.substr(0, name.find_last_not_of(" \t") + 1);
    for (const std::string_view before : {"/*", " ", "virtual ", "struct ", "class "}) {
      if (name.starts_with(before)) name.remove_prefix(before.size());
    }
    const Bytes bytes = place(std::string(name));
    if (bytes.size == 0) return;
    fields.push_back({std::string(name), bytes.offset, bytes.size});
    ancestors_.insert(fields.back().name);
  }

  // Ends a base class where the next member begins, because members may lie in the padding at its end.
  void shorten_ancestors(std::vector<Field>& fields) const {
    for (std::size_t i = 0; i + 1 < fields.size(); ++i) {
      const int room = fields[i + 1].offset - fields[i].offset;
      if (ancestors_.contains(fields[i].name) && room > 0) fields[i].size = std::min(fields[i].size, room);
    }
  }

  void member(std::vector<Field>& fields) {
    if (peek(1).text == ":" && (is("public") || is("protected") || is("private"))) {
      take();
      take();
      return;
    }
    const bool brace_next = peek(1).text == "{" || (peek(1).kind == TokenKind::word && peek(2).text == "{");
    if (is_aggregate() && brace_next) {
      aggregate(fields);
    } else if (is("enum") && brace_next) {
      while (!is("}") && peek().kind != TokenKind::end) take();
      expect("}");
      const std::vector<Token> declared = until_semicolon();
      if (!declared.empty() || has_place()) plain(declared, fields);
    } else {
      plain(until_semicolon(), fields);
    }
  }

  void aggregate(std::vector<Field>& fields) {
    if (++depth_ > kDeepest) refuse(peek(), fmt::format("more than {} structures within each other", kDeepest));
    const bool shares = take().text == "union";
    const bool tagged = !is("{");
    if (tagged) take();
    expect("{");
    std::vector<Field> inside = body().fields;
    --depth_;
    const std::vector<Token> declared = until_semicolon();
    const std::string name = declared_name(declared);
    const bool array = std::ranges::any_of(declared, [](const Token& token) { return token.text == "["; });
    // In C++, the definition of a nested type, which takes no space. Those of unnamed unions stand in front of all members.
    if ((tagged || fields.empty()) && declared.empty() && !has_place()) return;
    const Bytes bytes = place(name.empty() ? "this structure" : name);
    if (bytes.size == 0) return;
    if (shares && name.empty()) inside = {joined(inside)};
    if (!name.empty() && (shares || array || inside.empty())) inside = {Field{"", bytes.offset, bytes.size}};
    for (Field& field : inside) {
      if (!name.empty()) field.name = name + (field.name.empty() ? "" : "." + field.name);
      fields.push_back(field);
    }
  }

  // Reads a member without braces.
  void plain(const std::vector<Token>& declared, std::vector<Field>& fields) {
    const std::string name = declared_name(declared);
    const bool bits = is_bitfield(declared);
    if ((bits || is_method(declared)) && !has_place()) return;  // an unnamed bitfield or a method, which takes no space
    const Bytes bytes = place(name);
    if (bytes.size == 0) return;  // a flexible array member
    const bool list_head = declared.size() == 3 && declared[0].text == "struct" && declared[1].text == "list_head";
    if (list_head && bytes.size % 2 == 0) {
      fields.push_back({name + ".next", bytes.offset, bytes.size / 2});
      fields.push_back({name + ".prev", bytes.offset + bytes.size / 2, bytes.size / 2});
    } else {
      fields.push_back({name, bytes.offset, bytes.size});
      if (bits) bitfields_.insert(name);
    }
  }

  Bytes place(const std::string& name) {
    const auto bytes = peek().kind == TokenKind::comment ? place_in(peek()) : std::nullopt;
    if (!bytes) unexpected(fmt::format("`/* offset size */` behind {}", name));
    if (bytes->offset < 0 || bytes->size < 0 || bytes->offset > kLargestStructure || bytes->size > kLargestStructure)
      refuse(peek(), fmt::format("{}: offset and size are 0 to {}", name, kLargestStructure));
    take();
    return *bytes;
  }

  std::vector<Token> until_semicolon() {
    std::vector<Token> tokens;
    while (!is(";")) {
      if (peek().kind == TokenKind::end || is("{") || is("}")) unexpected("`;`");
      Token token = take();
      if (token.kind != TokenKind::comment) tokens.push_back(std::move(token));
    }
    take();
    return tokens;
  }

  // Returns the declared name. It follows the asterisks in a pointer to a function, `(*name)`. Otherwise it is the last word
  // before an array's brackets, a bitfield's colon or an attribute.
  static std::string declared_name(const std::vector<Token>& tokens) {
    std::string name;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::string& text = tokens[i].text;
      if (text == "__attribute__" || text == ":") break;
      if (text == "(" && i + 1 < tokens.size() && tokens[i + 1].text == "*") {
        while (i + 1 < tokens.size() && (tokens[i + 1].text == "*" || tokens[i + 1].text == "(")) ++i;
        return i + 1 < tokens.size() ? tokens[i + 1].text : "";
      }
      if (text == "[") return name;
      if (tokens[i].kind == TokenKind::word) name = text;
    }
    return name;
  }

  // True for a method, whose name precedes the parenthesis. In a pointer to a function, the name is inside.
  static bool is_method(const std::vector<Token>& tokens) {
    for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
      if (tokens[i].text == "__attribute__") return false;
      if (tokens[i].text == "(") return tokens[i - 1].kind == TokenKind::word && tokens[i + 1].text != "*";
    }
    return false;
  }

  static bool is_bitfield(const std::vector<Token>& tokens) {
    return std::ranges::any_of(tokens, [](const Token& token) { return token.text == ":"; });
  }

  // The N of `__attribute__((__aligned__(N)))`; 1 if there is none.
  [[nodiscard]] int declared_alignment(const std::vector<Token>& tokens) const {
    for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
      if (tokens[i].text != "__aligned__") continue;
      std::string_view number(tokens[i + 2].text);
      const int alignment = take_number(number).value_or(0);
      if (alignment < 1 || alignment > kLargestStructure || !std::has_single_bit(static_cast<unsigned>(alignment)))
        refuse(tokens[i + 2], fmt::format("{} is not an alignment; legal: powers of two", tokens[i + 2].text));
      return alignment;
    }
    return 1;
  }

  // Calls `visit` with each name of the field. A field that merges several members has their names, separated by `|`.
  template <class Visit>
  static void each_name(const std::string& field, const Visit& visit) {
    for (std::size_t begin = 0; begin <= field.size();) {
      const std::size_t end = std::min(field.find('|', begin), field.size());
      visit(field.substr(begin, end - begin));
      begin = end + 1;
    }
  }

  // Merges fields into one that covers all their bytes, with their names joined by `|`.
  static Field joined(const std::vector<Field>& fields) {
    Field all{"", 0, 0};
    int end = 0;
    std::set<std::string> names;
    for (const Field& field : fields) {
      all.offset = all.name.empty() ? field.offset : std::min(all.offset, field.offset);
      end = std::max(end, field.offset + field.size);
      each_name(group_of(field.name), [&](const std::string& name) {
        if (names.insert(name).second) all.name += (all.name.empty() ? "" : "|") + name;
      });
    }
    all.size = end - all.offset;
    return all;
  }

  [[nodiscard]] bool has_bits(const Field& field) const {
    bool found = false;
    each_name(field.name, [&](const std::string& name) { found = found || bitfields_.contains(name); });
    return found;
  }

  // Merges the bitfields that share a word into one field, with all other fields that overlap it.
  void join_bitfields(std::vector<Field>& fields) const {
    std::vector<Field> out;
    for (std::size_t i = 0; i < fields.size();) {
      std::vector<Field> word = {fields[i]};
      bool bits = has_bits(fields[i]);
      int end = fields[i].offset + fields[i].size;
      for (++i; i < fields.size() && fields[i].offset < end && (bits || has_bits(fields[i])); ++i) {
        bits = true;
        end = std::max(end, fields[i].offset + fields[i].size);
        word.push_back(fields[i]);
      }
      out.push_back(word.size() == 1 ? word.front() : joined(word));
    }
    fields = std::move(out);
  }

  std::vector<Token> tokens_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::string within_;               // " in rq, which begins in line 3"
  std::set<std::string> bitfields_;  // bitfields of this structure
  std::set<std::string> ancestors_;  // its base classes
  std::set<std::string> names_;      // Names of all structures. A set, because a kernel has 20,000.
  int depth_ = 0;
};

// Derives the line size from a comment on a line boundary. "/* --- cacheline 2 boundary (128 bytes) was 8 bytes ago --- */"
// implies 64 bytes.
std::optional<int> line_in_boundary(std::string_view comment) {
  constexpr std::string_view kBoundary = "cacheline ", kBytes = "boundary (";
  const std::size_t begin = comment.find(kBoundary), bytes_at = comment.find(kBytes);
  if (begin == comment.npos || bytes_at == comment.npos) return std::nullopt;
  std::string_view number_text = comment.substr(begin + kBoundary.size()),
                   bytes_text = comment.substr(bytes_at + kBytes.size());
  const auto number = take_number(number_text), bytes = take_number(bytes_text);
  if (!number || !bytes || *number < 1 || *bytes % *number != 0) return std::nullopt;
  return *bytes / *number;
}

// Returns the number that follows `word` in the text, such as 40 in "last cacheline: 40 bytes".
std::optional<int> figure_behind(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == text.npos) return std::nullopt;
  std::string_view rest = text.substr(at + word.size());
  return take_number(rest);
}

bool is_line_size(int bytes) {
  return bytes >= 8 && bytes <= 4096 && std::has_single_bit(static_cast<unsigned>(bytes));
}

}  // namespace

std::optional<int> pahole_line_bytes(const std::string& text) {
  for (std::size_t at = text.find("/*"); at != std::string::npos; at = text.find("/*", at + 2)) {
    const std::size_t end = std::min(text.find("*/", at), text.size());
    const auto bytes = line_in_boundary(std::string_view(text).substr(at, end - at));
    if (bytes && is_line_size(*bytes)) return bytes;
  }
  // Without such a comment, derives the line size from the sizes at the end of a structure of two lines or more.
  for (std::size_t at = text.find("size: "); at != std::string::npos; at = text.find("size: ", at + 1)) {
    const std::string_view about = std::string_view(text).substr(at, text.find("\n}", at) - at);
    const auto size = figure_behind(about, "size: "), lines = figure_behind(about, "cachelines: ");
    const auto last = figure_behind(about, "last cacheline: ");
    if (!size || !lines || !last || *lines < 2 || (*size - *last) % (*lines - 1) != 0) continue;
    if (const int bytes = (*size - *last) / (*lines - 1); is_line_size(bytes)) return bytes;
  }
  return std::nullopt;
}

std::vector<Layout> parse_pahole(const std::string& text, const std::string& file) {
  return Parser(tokens_of(text, file), file).parse();
}

}  // namespace linebounce::sim
