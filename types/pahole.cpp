// The listings of pahole (package dwarves), which prints the debug information of a program or kernel as C with comments:
//
//   struct job {
//           long int                   refs;                 /*     0     8 */
//           unsigned int               kind:4;               /*     8: 0  4 */
//
//           /* size: 16, cachelines: 1, members: 2 */
//   };
//
// What a listing does not have: what a base class ends with, where a virtual base is, the tag of a Rust enum, and the members
// of structures that are not in it. For types that pahole does not know, it prints figures of other types.
#include "types/pahole.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <utility>

#include "models/text/text_lines.hpp"
#include "models/text/trimmed.hpp"
#include "types/member_declaration.hpp"
#include "types/named_types.hpp"
#include "types/pahole_text.hpp"

namespace linebounce::types {
namespace {

using pahole::free_bits_in;
using pahole::hole_bytes_in;
using pahole::members_in;
using pahole::padding_bytes_in;
using pahole::PaholePart;
using pahole::PaholePartKind;
using pahole::PaholePlace;
using pahole::PaholeText;
using pahole::place_in;
using pahole::size_in;
using pahole::TextPosition;

constexpr std::string_view kAncestor = "<ancestor>";
constexpr std::size_t kDeepestPahole = 64;  // of structures within each other

// One structure can't be read. Those behind it can.
class Refused : public std::runtime_error {
 public:
  Refused(const TextPosition& at, const std::string& why, bool of_next = false)
      : std::runtime_error(why), position(at), is_of_next(of_next) {}
  TextPosition position;
  bool is_of_next;  // the part that is met belongs to the next structure
};

// A structure's head: "struct job : base".
struct PaholeHead {
  std::string keyword, name;
  std::string_view bases{};  // ": virtual base"
  bool is_alias = false;     // a typedef, whose name stands behind the brace
};

// The last line, because what stands in front of a listing has no end that could be recognised.
PaholeHead head_of(std::string_view text) {
  const std::size_t line = text.rfind('\n');
  if (line != text.npos) text = trimmed(text.substr(line + 1));
  PaholeHead head;
  if (text.starts_with("typedef ")) {
    head.is_alias = true;
    text = trimmed(text.substr(text.find(' ')));
  }
  while (text.starts_with("const ") || text.starts_with("volatile ")) text = trimmed(text.substr(text.find(' ')));
  const std::size_t blank = std::min(text.find(' '), text.size());
  head.keyword = text.substr(0, blank);
  const std::size_t bases = std::min(text.find(" : ", blank), text.size());
  head.name = trimmed(text.substr(blank, bases - blank));
  head.bases = text.substr(bases);
  return head;
}

bool is_aggregate_word(std::string_view word) {
  return word == "struct" || word == "union" || word == "class";
}

class PaholeReader {
 public:
  PaholeReader(std::string_view text, const std::string& file) : parts_(text, file) {}

  Listing read() {
    while (parts_.peek().kind != PaholePartKind::end) read_outermost();
    Listing listing = types_.listing();
    if (listing.structures.empty() && listing.unread.empty())
      refuse_text(first_other_, "this text has no structure; expected `struct NAME {`, as pahole prints it");
    return listing;
  }

 private:
  // For texts that are cut off or no listing at all.
  [[noreturn]] void refuse_text(const PaholePart& at, const std::string& text) const { parts_.refuse(at.at, text); }

  [[noreturn]] void refuse(const PaholePart& part, const std::string& expected) const {
    if (part.kind == PaholePartKind::end)
      refuse_text(part, fmt::format("the text is cut off{}: expected {}", within_, expected));
    throw Refused(part.at, fmt::format("line {}: expected {}, found {}", part.at.line, expected, words_of(part)));
  }

  static std::string words_of(const PaholePart& part) {
    constexpr std::size_t kShown = 40;
    switch (part.kind) {
      case PaholePartKind::comment: return fmt::format("/*{}*/", part.text.substr(0, kShown));
      case PaholePartKind::closing: return "}";
      default: return std::string(part.text.substr(0, std::min(part.text.find('\n'), kShown)));
    }
  }

  // Reads a structure, or skips what is none: enumerations, functions, a shell's prompt.
  void read_outermost() {
    const PaholePart part = parts_.peek();
    const PaholeHead head = head_of(part.text);
    if (part.kind == PaholePartKind::comment && place_in(part.text))
      refuse_text(part, "a member stands outside of any structure");
    if (part.kind != PaholePartKind::opening || !is_aggregate_word(head.keyword)) {
      if (first_other_.at.line == 1 && first_other_.text.empty()) first_other_ = part;
      parts_.take();
      return part.kind == PaholePartKind::opening ? skip_block() : void();
    }
    within_ = fmt::format(" in {}, which begins in line {}", head.name.empty() ? "a structure" : head.name, part.at.line);
    try {
      read_structure(head);
    } catch (const Refused& error) {
      types_.refuse(head.name.empty() ? fmt::format("(line {})", part.at.line) : head.name, error.what());
      depth_ = 0;
      if (!error.is_of_next) parts_.skip_structure();
    }
    within_.clear();
  }

  void skip_block() {
    int depth = 1;
    while (depth > 0 && parts_.peek().kind != PaholePartKind::end) {
      const PaholePartKind kind = parts_.take().kind;
      if (kind == PaholePartKind::opening) ++depth;
      if (kind == PaholePartKind::closing) --depth;
    }
    take_if(PaholePartKind::declaration);
  }

  bool take_if(PaholePartKind kind) {
    const bool is_it = parts_.peek().kind == kind;
    if (is_it) parts_.take();
    return is_it;
  }

  std::optional<PaholePlace> take_place() {
    if (parts_.peek().kind != PaholePartKind::comment) return std::nullopt;
    const auto place = place_in(parts_.peek().text);
    if (place) parts_.take();
    return place;
  }

  PaholePart take_declaration(std::string_view expected) {
    if (parts_.peek().kind != PaholePartKind::declaration) refuse(parts_.peek(), std::string(expected));
    return parts_.take();
  }

  void read_structure(const PaholeHead& head) {
    Outline outline = body(head);
    const PaholePart behind = take_declaration("`;` behind the brace");
    // Early pahole (2007) printed size and padding there.
    while (parts_.peek().kind == PaholePartKind::comment && (outline.size < 0 || !size_in(parts_.peek().text)) &&
           !place_in(parts_.peek().text))
      read_comment(outline, head);
    const Declaration declared = declaration_of(behind.text);
    if (head.is_alias) outline.name = declared.name;
    if (outline.name.empty()) throw Refused(behind.at, fmt::format("line {}: it has no name", behind.at.line));
    finish(outline, behind.text);
    if (outline.size < 0 && outline.kind == TypeKind::structure)
      throw Refused(behind.at, fmt::format("line {}: no comment `/* size: N, ... */` at its end", behind.at.line));
    // All of it is of unnamed bit-fields; in Rust, of variants.
    if (outline.members.empty() && outline.definitions.empty() && outline.size > 1) outline.untold = {{0, outline.size}};
    types_.add(std::move(outline));
  }

  static void finish(Outline& outline, std::string_view behind) {
    outline.is_packed = behind.find("__packed__") != behind.npos;
    outline.alignment = declaration_of(behind).alignment;
  }

  // Reads from an opening brace to its closing one.
  Outline body(const PaholeHead& head) {
    const PaholePart opening = parts_.take();
    Outline outline{.name = head.name};
    outline.kind = head.keyword == "union" ? TypeKind::union_type : TypeKind::structure;
    if (++depth_ > kDeepestPahole)
      throw Refused(opening.at,
                    fmt::format("line {}: more than {} structures within each other", opening.at.line, kDeepestPahole));
    for (;;) {
      const PaholePart& part = parts_.peek();
      if (part.kind == PaholePartKind::closing) break;
      switch (part.kind) {
        case PaholePartKind::comment: read_comment(outline, head); break;
        case PaholePartKind::label: parts_.take(); break;
        case PaholePartKind::opening:
          // Only the closing brace may follow the comment with the size.
          if (outline.size >= 0)
            throw Refused(part.at, fmt::format("line {}: the text is cut off in it: expected `}}`", part.at.line), true);
          read_block(outline);
          break;
        case PaholePartKind::declaration: read_member(outline); break;
        default: refuse(part, "a member or `}`");
      }
    }
    parts_.take();
    --depth_;
    return outline;
  }

  void read_comment(Outline& outline, const PaholeHead& head) {
    const PaholePart comment = parts_.take();
    if (const auto size = size_in(comment.text)) outline.size = checked(comment, *size);
    if (const auto members = members_in(comment.text)) check_members(outline, *members, comment);
    if (const auto bits = free_bits_in(comment.text)) note_free_bits(outline, *bits);
    if (const auto hole = hole_bytes_in(comment.text)) add_gap(outline, end_of_members(outline), checked(comment, *hole));
    const auto padding = padding_bytes_in(comment.text);
    if (padding && outline.size >= 0) add_gap(outline, outline.size - checked(comment, *padding), *padding);
    if (comment.text.find(kAncestor) != std::string_view::npos) read_ancestor(outline, comment.text, head);
  }

  // From a structure that states another number of members than it lists, lines are missing, or some are of another.
  static void check_members(Outline& outline, std::int64_t stated, const PaholePart& comment) {
    if (!outline.gaps) outline.gaps.emplace();
    const std::int64_t listed = std::ssize(outline.members);
    if (stated > listed + outline.without_place) outline.untold.push_back({0, outline.size});
    if (stated < listed)
      throw Refused(comment.at,
                    fmt::format("line {}: {} members are stated, and {} are listed", comment.at.line, stated, listed));
  }

  static std::int64_t checked(const PaholePart& part, std::int64_t figure) {
    if (figure > kLargestFigure) throw Refused(part.at, fmt::format("line {}: {} bytes are too many", part.at.line, figure));
    return figure;
  }

  // A base class stands in a comment: `/* struct base <ancestor>; */ /* 0 16 */`.
  void read_ancestor(Outline& outline, std::string_view text, const PaholeHead& head) {
    std::string_view name = trimmed(text.substr(0, text.find(kAncestor)));
    if (name.starts_with("virtual ")) name = trimmed(name.substr(name.find(' ')));
    const auto place = take_place();
    if (!place) return;
    OutlineMember member{.name = std::string(without_keywords(name)), .kind = MemberKind::base_class};
    member.type = member.name;
    member.bytes = place->size;
    member.bit_offset = place->offset * 8;
    if (place->size == 0) member.kind = MemberKind::empty;
    if (head.bases.find("virtual " + member.name) != std::string_view::npos) {
      // A virtual base has no fixed place. pahole prints 0 or -1.
      member.kind = MemberKind::virtual_base;
      member.bit_offset.reset();
    }
    outline.hides_bases |= overlaps_base(member, outline);
    outline.members.push_back(std::move(member));
  }

  // Two bases overlap if they have a virtual base in common, which pahole counts as a part of each.
  static bool overlaps_base(const OutlineMember& base, const Outline& outline) {
    return std::ranges::any_of(outline.members, [&base](const OutlineMember& other) {
      return base.kind == MemberKind::base_class && other.kind == MemberKind::base_class && base.begin() > other.begin() &&
             base.begin() < other.begin() + other.bytes;
    });
  }

  // Reads a structure, union or enumeration within a structure: a member, or only its definition.
  void read_block(Outline& outline) {
    const PaholeHead head = head_of(parts_.peek().text);
    if (!is_aggregate_word(head.keyword)) {
      skip_enumerators();
      const PaholePart behind = take_declaration("`;` behind the brace");
      if (const auto place = take_place())
        add_member(outline, declarator_of(behind.text), *place, behind).has_unknown_size = false;
      return;
    }
    Outline inside = body(head);
    const PaholePart behind = take_declaration("`;` behind the brace");
    finish(inside, behind.text);
    const auto place = take_place();
    // Without a place, it is the definition of a nested type.
    if (!place) return outline.definitions.push_back(std::move(inside));
    const Declaration declared = declarator_of(behind.text);
    OutlineMember& member = add_member(outline, declared, *place, behind);
    member.has_unknown_size = false;
    if (declared.type.ends_with('*')) return;  // a pointer to it
    const std::int64_t elements = declared.elements.value_or(1);
    inside.size = elements > 0 ? place->size / elements : 0;
    inside.gaps.reset();  // its padding at the end is not stated
    shift(inside, place->offset);
    // pahole leaves out the name of a member whose type is a constant structure without a name.
    if (declared.name.empty() && !declared.elements && place->size > 0) member.kind = MemberKind::anonymous;
    member.inside = std::make_shared<Outline>(std::move(inside));
  }

  void skip_enumerators() {
    while (parts_.peek().kind != PaholePartKind::closing) {
      if (parts_.peek().kind == PaholePartKind::end) refuse(parts_.peek(), "`}`");
      parts_.take();
    }
    parts_.take();
  }

  // What stands behind a brace: "__attribute__((__packed__)) pins[4]".
  static Declaration declarator_of(std::string_view text) {
    constexpr std::string_view kAttribute = "__attribute__((", kEnd = "))";
    while (text.starts_with(kAttribute)) {
      const std::size_t end = text.find(kEnd);
      text = trimmed(text.substr(end == text.npos ? text.size() : end + kEnd.size()));
    }
    return declaration_of(text);
  }

  // The members' offsets count from the beginning of the outermost structure.
  static void shift(Outline& outline, std::int64_t by) {
    for (OutlineMember& member : outline.members) {
      if (member.bit_offset) *member.bit_offset -= by * 8;
    }
  }

  void read_member(Outline& outline) {
    const PaholePart part = parts_.take();
    const Declaration declared = declaration_of(part.text);
    const auto place = take_place();
    if (place) {
      add_member(outline, declared, *place, part);
      return;
    }
    // Unnamed bit-fields, static members and methods have no place.
    const bool takes_no_space = declared.bits || part.text.starts_with("extern ") || part.text.starts_with("static ") ||
                                part.text.starts_with("using ") || part.text.ends_with(')');
    if (!declared.bits) ++outline.without_place;
    if (!takes_no_space) refuse(parts_.peek(), fmt::format("`/* offset size */` behind {}", declared.name));
  }

  static OutlineMember& add_member(Outline& outline, const Declaration& declared, const PaholePlace& place,
                                   const PaholePart& part) {
    OutlineMember member{.name = declared.name, .type = declared.type};
    member.bit_offset = checked(part, place.offset) * 8 + checked(part, place.bit.value_or(0));
    member.bytes = place.size;
    member.elements = declared.elements;
    member.alignment = declared.alignment;
    if (declared.name.starts_with("_vptr")) member.kind = MemberKind::vtable_pointer;
    if (declared.bits) {
      member.kind = MemberKind::bit_field;
      member.bits = *declared.bits;
      member.bit_number = place.bit.value_or(0);
      member.free_before = std::exchange(outline.free_bits, std::nullopt);
    }
    // For such pointers, pahole prints the size of what they point to; and any figure for a type that it does not know.
    if (declared.is_pointer_to_member && !declared.elements)
      member.bytes = declared.is_pointer_to_method ? 2 * kListedPointerBytes : kListedPointerBytes;
    member.has_unknown_size = declared.type.empty() || declared.type == "void" || place.size > kLargestFigure;
    outline.members.push_back(std::move(member));
    return outline.members.back();
  }

  PaholeText parts_;
  NamedTypes types_;
  PaholePart first_other_{};
  std::string within_;  // " in rq, which begins in line 3"
  std::size_t depth_ = 0;
};

bool opens_structure(std::string_view line) {
  constexpr std::array<std::string_view, 4> kBegins = {"struct ", "class ", "union ", "typedef struct"};
  return line.ends_with('{') && std::ranges::any_of(kBegins, [line](std::string_view one) { return line.starts_with(one); });
}

bool has_place_comment(std::string_view line) {
  const std::size_t begin = line.rfind("/*"), end = line.rfind("*/");
  return begin != line.npos && end != line.npos && end >= begin + 2 && place_in(line.substr(begin + 2, end - begin - 2));
}

}  // namespace

bool is_pahole_listing(std::string_view text) {
  bool opens = false, places = false;
  for (const std::string& line : text_lines(text)) {
    opens = opens || opens_structure(trimmed(line));
    places = places || has_place_comment(line);
  }
  return opens && places;
}

ListingForm pahole_form() {
  return {.name = "pahole",
          .what = "pahole's listing of structures",
          .marks = "struct NAME { ... }; with /* OFFSET SIZE */ behind members",
          .because = "members have their offset and size behind them",
          .is_like = is_pahole_listing,
          .read = [](const ListingInput& input) {
            Listing listing = PaholeReader(input.bytes, input.file).read();
            listing.origin = "pahole's output";
            listing.line_bytes = pahole::line_bytes_in(input.bytes);
            return listing;
          }};
}

}  // namespace linebounce::types
