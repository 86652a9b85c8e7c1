// Structures as gdb's `ptype /o` prints them, with the offset and size in front of each member:
//
//   /* offset      |    size */  type = struct job {
//   /*      0      |       4 */    int count;
//   /*      4: 0   |       4 */    unsigned int kind : 3;
//   /*      8      |      16 */    union {
//   /*                     8 */        long whole;
//
//                                      /* total size (bytes):   16 */
//                                  } value;
//
//                                  /* total size (bytes):   24 */
//                                }
//
// Of a structure in Rust, members are "count: u32,", and those of a tuple have no names. gdb prints neither base classes nor
// pointers to vtables.
#include "types/ptype.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "models/text/text_lines.hpp"
#include "models/text/trimmed.hpp"
#include "types/member_declaration.hpp"
#include "types/named_types.hpp"

namespace linebounce::types {
namespace {

constexpr std::string_view kTypeIs = "type = ";
constexpr std::size_t kDeepestFrame = 64;  // of structures within each other

struct PtypePlace {
  std::optional<std::int64_t> offset{};  // bytes; none in a union, whose members begin where it does
  std::int64_t bit = 0;                  // of a bit-field, from the offset
  std::int64_t size = 0;                 // bytes
};

// "  8 |  4 ", "  4: 3 |  4 ", "  4 ". None for any other comment.
std::optional<PtypePlace> ptype_place(std::string_view comment) {
  PtypePlace place;
  const std::size_t bar = comment.find('|');
  if (bar != comment.npos) {
    std::string_view before = comment.substr(0, bar);
    place.offset = take_number(before);
    if (!place.offset) return std::nullopt;
    if (before.starts_with(':')) {
      before.remove_prefix(1);
      const auto bit = take_number(before);
      if (!bit) return std::nullopt;
      place.bit = *bit;
    }
    if (!trimmed(before).empty()) return std::nullopt;
    comment.remove_prefix(bar + 1);
  }
  const auto size = take_number(comment);
  if (!size || !trimmed(comment).empty()) return std::nullopt;
  place.size = *size;
  return place;
}

// Calls `visit` with each part of a list that is not within the angle brackets of a template.
template <class Visit>
void each_in_list(std::string_view text, const Visit& visit) {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>') --depth;
    if (text[i] != ',' || depth > 0) continue;
    visit(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  visit(trimmed(text.substr(begin)));
}

// A structure that has been opened: "class Star<double> : public Base [with T = double] {".
struct PtypeFrame {
  Outline outline{};
  PtypePlace place{};
  std::string language_name{};  // of a member in Rust, "kind" of "kind: u8"
  bool is_listed = true;        // false: the definition of a nested type, which has no place
  bool is_enumeration = false;  // of Rust: its members are variants
  bool has_labels = false;      // such as `public:`
  bool is_of_rust = false;
  std::map<std::string, std::string> arguments{};  // of a template: T is double
};

class PtypeReader {
 public:
  explicit PtypeReader(std::string file) : file_(std::move(file)) {}

  Listing read(std::string_view text) {
    for (const std::string& whole : text_lines(text)) {
      ++line_;
      std::string_view line = trimmed(whole);
      while (line.starts_with("//")) line = trimmed(line.substr(2));
      try {
        read_line(line);
      } catch (const std::invalid_argument& error) {
        types_.refuse(frames_.front().outline.name, fmt::format("line {}: {}", line_, error.what()));
        frames_.clear();
      }
    }
    if (!frames_.empty()) types_.refuse(frames_.front().outline.name, "the text is cut off in it");
    if (types_.is_empty())
      throw ReadError(
          fmt::format("{}: ptype: this text has no structure; expected /* offset | size */ type = struct NAME {{", file_));
    return types_.listing();
  }

 private:
  void read_line(std::string_view line) {
    if (!opening_.empty()) {  // a mail program has broken the line before
      opening_ += " " + std::string(line);
      return open_outermost();
    }
    if (!line.starts_with("/*")) return read_bare_line(line);
    const std::size_t end = std::min(line.find("*/"), line.size());
    const std::string_view comment = trimmed(line.substr(2, std::max(end, std::size_t{2}) - 2));
    const std::string_view behind = trimmed(line.substr(std::min(end + 2, line.size())));
    if (behind.starts_with(kTypeIs)) {
      if (!frames_.empty()) types_.refuse(frames_.front().outline.name, "the text is cut off in it");
      frames_.clear();
      opening_ = behind.substr(kTypeIs.size());
      return open_outermost();
    }
    if (frames_.empty()) return;
    if (comment.starts_with("total size")) return note_size(comment);
    if (behind.empty()) return note_hole(comment);
    const auto place = ptype_place(comment);
    if (!place || place->size > kLargestFigure || place->offset.value_or(0) > kLargestFigure)
      throw std::invalid_argument(fmt::format("expected the offset and size of {}", behind));
    behind.ends_with('{') || behind.ends_with('(') ? open(behind, *place, true) : add(behind, *place);
  }

  // Labels, methods, static members and the definitions of nested types have no place.
  void read_bare_line(std::string_view line) {
    if (frames_.empty() || line.empty()) return;
    if (line.starts_with('}') || line.starts_with(')')) return close(line.substr(1));
    if (line.ends_with(':')) frames_.back().has_labels = true;
    if (line.ends_with('{')) open(line, {}, false);
  }

  void open_outermost() {
    if (opening_.ends_with('{') || opening_.ends_with('(')) {
      const std::string text = std::exchange(opening_, {});
      open(text, {}, true);
    } else if (opening_.ends_with('}') || opening_.ends_with(';') || opening_.empty()) {
      opening_.clear();
    }
  }

  void open(std::string_view text, const PtypePlace& place, bool is_listed) {
    if (frames_.size() == kDeepestFrame) throw std::invalid_argument("structures within structures are too deep");
    PtypeFrame frame{.place = place, .is_listed = is_listed};
    text = trimmed(text.substr(0, text.size() - 1));
    const std::string without_arguments = take_arguments(frame, text);
    text = without_arguments;
    for (const std::string_view word : {"const ", "volatile "}) {
      if (text.starts_with(word)) text.remove_prefix(word.size());
    }
    const std::size_t bases = std::min(text.find(" : "), text.size());
    const std::size_t blank = std::min(text.find(' '), bases);
    const std::string_view keyword = text.substr(0, blank);
    frame.outline.kind = keyword == "union" ? TypeKind::union_type : TypeKind::structure;
    frame.is_enumeration = keyword == "enum";
    frame.outline.name = trimmed(text.substr(blank, bases - blank));
    // A variant of an enumeration in Rust: "Move {".
    if (!frames_.empty() && frames_.back().is_enumeration) frame.outline.name = text;
    if (bases < text.size()) note_bases(frame, text.substr(bases + 3));
    frames_.push_back(std::move(frame));
  }

  // Removes and notes a template's arguments: "class Star<double> [with T = double] : public Base".
  static std::string take_arguments(PtypeFrame& frame, std::string_view text) {
    constexpr std::string_view kWith = " [with ";
    const std::size_t begin = text.find(kWith);
    if (begin == text.npos) return std::string(text);
    std::size_t end = begin + 1;
    int depth = 0;
    for (; end < text.size(); ++end) {
      if (text[end] == '[') ++depth;
      if (text[end] == ']' && --depth == 0) break;
    }
    const std::size_t first = begin + kWith.size();
    each_in_list(text.substr(first, end - first), [&frame](std::string_view one) {
      const std::size_t equals = one.find(" = ");
      if (equals != one.npos) frame.arguments.emplace(one.substr(0, equals), one.substr(equals + 3));
    });
    return std::string(text.substr(0, begin)) + std::string(text.substr(std::min(end + 1, text.size())));
  }

  // "public lay::Base, virtual lay::Other"; where they are is not told.
  static void note_bases(PtypeFrame& frame, std::string_view text) {
    each_in_list(text, [&frame](std::string_view one) {
      OutlineMember base{.kind = MemberKind::base_class, .bit_offset = std::nullopt};
      for (const std::string_view word : {"public ", "protected ", "private ", "virtual "}) {
        if (!one.starts_with(word)) continue;
        one.remove_prefix(word.size());
        if (word == "virtual ") base.kind = MemberKind::virtual_base;
      }
      base.name = one;
      base.type = one;
      frame.outline.members.push_back(std::move(base));
    });
  }

  // "total size (bytes):   24", "total size:   24 bytes"
  void note_size(std::string_view comment) {
    std::string_view number = comment.substr(std::min(comment.find(':'), comment.size() - 1) + 1);
    const auto size = take_number(number);
    if (!size || *size > kLargestFigure) throw std::invalid_argument("expected the total size");
    frames_.back().outline.size = *size;
  }

  // "XXX 3-bit hole", "XXX 7-byte padding"
  void note_hole(std::string_view comment) {
    constexpr std::string_view kHole = "XXX";
    if (!comment.starts_with(kHole)) return;
    comment.remove_prefix(kHole.size());
    const auto count = take_number(comment);
    Outline& outline = frames_.back().outline;
    if (!count || *count > kLargestFigure) return;
    if (comment.starts_with("-bit ")) note_free_bits(outline, *count);
    if (comment.starts_with("-byte ")) add_gap(outline, end_of_members(outline), *count);
  }

  // gdb states every gap behind a member. It prints members in Rust in the source's order, and early versions (8) leave out the
  // padding at the end.
  static void close_gaps(PtypeFrame& frame, std::int64_t begin) {
    Outline& outline = frame.outline;
    if (frame.is_of_rust || outline.kind == TypeKind::union_type) {
      outline.gaps.reset();
      return;
    }
    const std::int64_t end = std::max(end_of_members(outline), begin);
    const std::int64_t padding = begin + outline.size - end;
    if (!outline.gaps) outline.gaps.emplace();
    if (padding < kListedPointerBytes) add_gap(outline, end, padding);
    for (Bytes& gap : *outline.gaps) gap = {gap.begin - begin, gap.end - begin};
  }

  [[nodiscard]] std::int64_t begin_of(const PtypePlace& place) const {
    return place.offset ? *place.offset : frames_.back().place.offset.value_or(0);
  }

  // "int count", "count: u32", "u32"
  void add(std::string_view text, const PtypePlace& place) {
    PtypeFrame& frame = frames_.back();
    OutlineMember member;
    member.bytes = place.size;
    member.bit_offset = begin_of(place) * 8 + place.bit;
    if (text.ends_with(',')) {
      frame.is_of_rust = true;
      set_rust_name(member, trimmed(text.substr(0, text.size() - 1)));
    } else {
      const std::size_t left_out = text.find("{...}");
      const std::string declared = left_out == text.npos ? std::string(text) : std::string(text).erase(left_out, 5);
      const std::string_view bare = std::string_view(declared).substr(0, declared.find_last_not_of("; ") + 1);
      set_declaration(member, declaration_of(bare));
    }
    if (member.kind == MemberKind::bit_field) {
      member.bit_number = place.bit;
      member.free_before = std::exchange(frame.outline.free_bits, std::nullopt);
    }
    const auto argument = frame.arguments.find(member.type);
    if (argument != frame.arguments.end()) member.type = argument->second;
    // gdb gives this type of a pointer's size no bytes.
    if (member.type == "decltype(nullptr)" && member.bytes == 0) member.bytes = kListedPointerBytes;
    frame.outline.members.push_back(std::move(member));
  }

  static void set_declaration(OutlineMember& member, const Declaration& declared) {
    member.name = declared.name;
    member.type = declared.type;
    member.elements = declared.elements;
    if (!declared.bits) return;
    member.kind = MemberKind::bit_field;
    member.bits = *declared.bits;
  }

  void set_rust_name(OutlineMember& member, std::string_view text) const {
    const PtypeFrame& frame = frames_.back();
    const std::size_t colon = text.find(": ");
    member.name = colon == text.npos ? fmt::format("__{}", frame.outline.members.size()) : std::string(text.substr(0, colon));
    member.type = colon == text.npos ? text : text.substr(colon + 2);
    if (!frame.is_enumeration) return;
    // A variant without members.
    member.name = text;
    member.kind = MemberKind::variant;
  }

  // `behind`: what follows the brace: " value;", ","
  void close(std::string_view behind) {
    PtypeFrame frame = std::move(frames_.back());
    frames_.pop_back();
    if (!frame.is_listed) return;
    set_vtable_pointer(frame);
    if (frame.outline.size < 0) {
      if (frames_.empty()) frames_.push_back(std::move(frame));  // for its name
      throw std::invalid_argument("expected the total size of the structure");
    }
    close_gaps(frame, frames_.empty() ? 0 : begin_of(frame.place));
    if (frames_.empty()) {
      frame.outline.hides_bases = false;
      return types_.add(std::move(frame.outline));
    }
    frames_.back().is_of_rust |= behind.ends_with(',');
    OutlineMember member;
    member.bytes = frame.place.size;
    const std::int64_t begin = begin_of(frame.place);
    member.bit_offset = begin * 8;
    const bool is_variant = frames_.back().is_enumeration;
    if (is_variant) {
      member.name = frame.outline.name;
      member.kind = MemberKind::variant;
    } else {
      const std::size_t end = behind.find_last_not_of("; ,");
      set_declaration(member, declaration_of(behind.substr(0, end == behind.npos ? 0 : end + 1)));
      member.type = frame.outline.name;
      if (member.name.empty()) member.kind = MemberKind::anonymous;
    }
    for (OutlineMember& one : frame.outline.members) {
      if (one.bit_offset) *one.bit_offset -= begin * 8;
    }
    member.inside = std::make_shared<Outline>(std::move(frame.outline));
    frames_.back().outline.members.push_back(std::move(member));
  }

  // In C++, only the pointer to the vtable lies in front of the first member of a class without bases.
  void set_vtable_pointer(PtypeFrame& frame) const {
    std::vector<OutlineMember>& members = frame.outline.members;
    const std::int64_t begin = frames_.empty() ? 0 : begin_of(frame.place);
    const auto lies_behind = [begin](const OutlineMember& member) {
      return member.bit_offset && member.begin() >= begin + kListedPointerBytes;
    };
    if (!frame.has_labels || members.empty() || !std::ranges::all_of(members, lies_behind)) return;
    OutlineMember pointer{
        .name = "_vptr", .kind = MemberKind::vtable_pointer, .bit_offset = begin * 8, .bytes = kListedPointerBytes};
    members.insert(members.begin(), std::move(pointer));
  }

  std::string file_;
  NamedTypes types_;
  std::vector<PtypeFrame> frames_;  // the open structures, from the outermost
  std::string opening_;             // the beginning of a structure whose brace stands on a later line
  std::int64_t line_ = 0;
};

bool is_ptype_listing(std::string_view text) {
  for (const std::string& line : text_lines(text)) {
    const std::size_t head = line.find("/* offset "), type = line.find(kTypeIs);
    if (head != line.npos && type != line.npos && line.find("size */") < type && head < type) return true;
  }
  return false;
}

}  // namespace

ListingForm ptype_form() {
  return {.name = "ptype",
          .what = "gdb's ptype /o: structures with offsets and sizes",
          .marks = "/* offset | size */ type = struct NAME {",
          .because = "it has the head that gdb prints",
          .is_like = is_ptype_listing,
          .read = [](const ListingInput& input) {
            Listing listing = PtypeReader(input.file).read(input.bytes);
            listing.origin = "gdb's ptype /o";
            return listing;
          }};
}

}  // namespace linebounce::types
