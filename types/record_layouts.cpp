// The record layouts that clang prints for -Xclang -fdump-record-layouts, with the offset in front of each member:
//
//   *** Dumping AST Record Layout
//            0 | struct job
//            0 |   struct base (base)
//            0 |     long id
//        8:0-2 |   unsigned int kind
//           16 |   char[9] name
//              | [sizeof=32, dsize=25, align=8,
//              |  nvsize=25, nvalign=8]
//
// With -fdump-record-layouts-simple, only the offsets of the fields:
//
//   Type: struct job
//   Layout: <ASTRecordLayout
//     Size:256
//     Alignment:64
//     FieldOffsets: [64, 128]>
//
// What they do not have: sizes of members that are neither structures nor of C's own types, such as enumerations.
#include "types/record_layouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "models/text/text_lines.hpp"
#include "models/text/trimmed.hpp"
#include "types/c_sizes.hpp"
#include "types/member_declaration.hpp"
#include "types/named_types.hpp"

namespace linebounce::types {
namespace {

constexpr std::string_view kBlock = "*** Dumping ";
constexpr std::string_view kAstBlock = "*** Dumping AST Record Layout";
constexpr std::size_t kDeepestRecord = 64;

// A line of a record: "    8:0-2 |   unsigned int kind".
struct RecordEntry {
  std::size_t depth = 0;
  std::int64_t bit_offset = 0;
  std::optional<std::int64_t> bits{};  // of a bit-field
  std::string_view text{};
};

struct Record {
  std::string_view head{};  // "struct job"
  std::vector<RecordEntry> entries{};
  std::int64_t size = -1, alignment = 0, base_size = -1, data_size = -1;  // bytes
  std::vector<std::int64_t> field_offsets{};                              // bits; of the simple form
  bool is_simple = false;
};

// "std::vector<struct job, int>" becomes "std::vector<job, int>".
std::string plain_name(std::string_view text) {
  constexpr std::array<std::string_view, 4> kKeywords = {"struct ", "class ", "union ", "enum "};
  std::string name;
  while (!text.empty()) {
    const bool begins_word = name.empty() || std::string_view("<,( *&").find(name.back()) != std::string_view::npos;
    const auto* const keyword =
        std::ranges::find_if(kKeywords, [text](std::string_view word) { return text.starts_with(word); });
    if (begins_word && keyword != kKeywords.end()) {
      text.remove_prefix(keyword->size());
    } else {
      name += text.front();
      text.remove_prefix(1);
    }
  }
  return name;
}

bool has_name(std::string_view head) {
  return head.find("(unnamed ") == head.npos && head.find("(anonymous at ") == head.npos &&
         head.find("(anonymous struct ") == head.npos && head.find("(anonymous union ") == head.npos &&
         head.find("(lambda at ") == head.npos;
}

// The figure behind a word: "sizeof=", "Size:".
std::optional<std::int64_t> figure_of(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == text.npos) return std::nullopt;
  std::string_view rest = text.substr(at + word.size());
  const auto number = take_number(rest);
  return number && *number <= kLargestFigure ? number : std::nullopt;
}

// "8", "8:0-2", "8:-" (of no width)
bool set_place(RecordEntry& entry, std::string_view text) {
  text = trimmed(text);
  const auto offset = take_number(text);
  if (!offset || *offset > kLargestFigure) return false;
  entry.bit_offset = *offset * 8;
  if (text.empty()) return true;
  if (!text.starts_with(':')) return false;
  text.remove_prefix(1);
  entry.bits = 0;
  if (text == "-") return true;
  const auto first = take_number(text);
  if (!first || !text.starts_with('-')) return false;
  text.remove_prefix(1);
  const auto last = take_number(text);
  if (!last || *last < *first || *last > kLargestFigure || !text.empty()) return false;
  entry.bit_offset += *first;
  entry.bits = *last - *first + 1;
  return true;
}

class RecordReader {
 public:
  explicit RecordReader(std::string file) : file_(std::move(file)) {}

  Listing read(std::string_view text) {
    lines_ = text_lines(text);
    bool is_of_syntax_tree = false;
    for (const std::string& whole : lines_) {
      const std::string_view line = whole;
      if (const std::string_view head = trimmed(line); head.starts_with(kBlock)) {
        is_of_syntax_tree = head.starts_with(kAstBlock);
        if (is_of_syntax_tree) records_.emplace_back();
      } else if (is_of_syntax_tree) {
        read_line(line);
      }
    }
    for (const Record& record : records_) by_name_.emplace(plain_name(record.head), &record);
    has_32_bits_ = std::ranges::any_of(records_, [](const Record& record) { return has_vtable_pointer(record, 4); }) &&
                   std::ranges::none_of(records_, [](const Record& record) { return has_vtable_pointer(record, 8); });
    for (const Record& record : records_) learn_sizes(record);
    for (const Record& record : records_) add(record);
    if (types_.is_empty())
      throw ReadError(
          fmt::format("{}: record layouts: there is none that is whole; expected *** Dumping AST Record Layout, and at "
                      "its end [sizeof=8, ...]",
                      file_));
    return types_.listing();
  }

 private:
  void read_line(std::string_view line) {
    Record& record = records_.back();
    const std::size_t bar = line.find(" | ");
    if (bar == line.npos) return read_simple_line(record, trimmed(line));
    const std::string_view text = line.substr(bar + 3);
    RecordEntry entry;
    entry.text = text.substr(std::min(text.find_first_not_of(' '), text.size()));
    if (trimmed(line.substr(0, bar)).empty()) return read_sizes(record, entry.text);
    if (!set_place(entry, line.substr(0, bar))) return;
    entry.depth = (text.size() - entry.text.size()) / 2;
    is_of_windows_ |= entry.text.find(" vftable pointer)") != entry.text.npos;
    if (record.head.empty()) {
      record.head = without_suffix(trimmed(entry.text), " (empty)");
    } else {
      record.entries.push_back(entry);
    }
  }

  // A class that is not packed is aligned like its pointer to a vtable.
  static bool has_vtable_pointer(const Record& record, std::int64_t alignment) {
    return record.alignment == alignment &&
           std::ranges::any_of(record.entries, [](const RecordEntry& entry) { return is_vtable_pointer(entry.text); });
  }

  // Records of both kinds are in one text where somebody compares them.
  void set_abi(const Record& record) {
    const bool is_of_32_bits = has_vtable_pointer(record, 4) || (has_32_bits_ && !has_vtable_pointer(record, 8));
    abi_ = is_of_32_bits ? Abi::any32 : is_of_windows_ ? Abi::windows64 : Abi::unix64;
  }

  static bool is_vtable_pointer(std::string_view text) { return text.starts_with('(') && text.ends_with(" pointer)"); }

  static std::string_view without_suffix(std::string_view text, std::string_view suffix) {
    return text.ends_with(suffix) ? text.substr(0, text.size() - suffix.size()) : text;
  }

  static void read_sizes(Record& record, std::string_view text) {
    if (const auto size = figure_of(text, "sizeof=")) record.size = *size;
    if (const auto size = figure_of(text, "dsize=")) record.data_size = *size;
    if (const auto alignment = figure_of(text, " align=")) record.alignment = *alignment;
    if (const auto size = figure_of(text, "nvsize=")) record.base_size = *size;
  }

  static void read_simple_line(Record& record, std::string_view line) {
    constexpr std::string_view kType = "Type: ", kFields = "FieldOffsets: [";
    if (line.starts_with(kType)) {
      record.head = line.substr(kType.size());
      record.is_simple = true;
    }
    if (!record.is_simple) return;
    if (line.starts_with("Size:")) record.size = figure_of(line, "Size:").value_or(-8) / 8;
    if (line.starts_with("Alignment:")) record.alignment = figure_of(line, "Alignment:").value_or(0) / 8;
    if (!line.starts_with(kFields)) return;
    for (line.remove_prefix(kFields.size()); !line.empty() && line.front() != ']';) {
      const auto offset = take_number(line);
      if (!offset) break;
      record.field_offsets.push_back(*offset);
      line.remove_prefix(std::min(line.find_first_not_of(", "), line.size()));
    }
  }

  void add(const Record& record) {
    if (record.head.empty() || !has_name(record.head)) return;
    const std::string name = plain_name(record.head);
    if (record.size < 0) return types_.refuse(name, "the text is cut off: its size is missing");
    Outline outline = outline_of(record);
    outline.name = name;
    types_.add(std::move(outline));
  }

  Outline outline_of(const Record& record) {
    set_abi(record);
    Outline outline{.size = record.size, .alignment = record.alignment};
    outline.has_exact_alignment = record.alignment > 0;
    if (record.head.starts_with("union ")) outline.kind = TypeKind::union_type;
    add_members(outline, record, 0, 1, "");
    for (std::size_t i = 0; i < record.field_offsets.size(); ++i) {
      OutlineMember field{.name = fmt::format("#{}", i), .bit_offset = record.field_offsets[i], .has_unknown_size = true};
      outline.members.push_back(std::move(field));
    }
    // Bases and pointers to vtables are not in the simple form.
    if (record.is_simple && !(record.field_offsets.empty() && record.size == 1)) outline.untold.push_back({0, record.size});
    return outline;
  }

  // Adds the entries of this depth, from entry `first` to the end of the class around them. A base class without a record of
  // its own contributes the members that clang lists below it; `before` ("Base::") begins their names.
  void add_members(Outline& outline, const Record& record, std::size_t first, std::size_t depth, const std::string& before) {
    for (std::size_t i = first; i < record.entries.size() && record.entries[i].depth >= depth; ++i) {
      const RecordEntry& entry = record.entries[i];
      const bool has_no_width = entry.bits && *entry.bits == 0;
      if (entry.depth != depth || has_no_width) continue;
      OutlineMember member = member_of(entry);
      const bool has_parts = i + 1 < record.entries.size() && record.entries[i + 1].depth > depth;
      const bool is_base = member.kind == MemberKind::base_class || member.kind == MemberKind::virtual_base;
      if (is_base && member.has_unknown_size && has_parts && depth < kDeepestRecord) {
        add_members(outline, record, i + 1, depth + 1, member.name + "::");
        continue;
      }
      if (!member.name.empty()) member.name = before + member.name;
      outline.members.push_back(std::move(member));
    }
  }

  OutlineMember member_of(const RecordEntry& entry) {
    OutlineMember member{.bit_offset = entry.bit_offset};
    std::string_view text = without_suffix(entry.text, " (empty)");
    const bool is_empty = text.size() < entry.text.size();
    if (is_vtable_pointer(text)) {
      member.name = "_vptr";
      member.kind = MemberKind::vtable_pointer;
      member.bytes = abi_ == Abi::any32 ? kListedPointerBytes / 2 : kListedPointerBytes;
      return member;
    }
    for (const std::string_view suffix : {" (base)", " (primary base)", " (virtual base)", " (primary virtual base)"}) {
      if (!text.ends_with(suffix)) continue;
      const bool is_virtual = suffix.find("virtual") != suffix.npos;
      set_base(member, text.substr(0, text.size() - suffix.size()), is_virtual);
      if (is_empty) member.kind = MemberKind::empty;
      return member;
    }
    set_member(member, entry, text);
    if (is_empty && member.kind == MemberKind::member) {
      member.kind = MemberKind::empty;
      member.has_unknown_size = false;
    }
    return member;
  }

  void set_base(OutlineMember& member, std::string_view type, bool is_virtual) {
    member.kind = is_virtual ? MemberKind::virtual_base : MemberKind::base_class;
    member.type = plain_name(type);
    member.name = member.type;
    const auto record = by_name_.find(member.type);
    if (record != by_name_.end()) member.bytes = std::max(record->second->base_size, std::int64_t{0});
    member.has_unknown_size = record == by_name_.end();
  }

  // "unsigned int kind", "char[9] name", "int (*)(int) call"; the last word is the name, and a member without one ends with a
  // blank.
  void set_member(OutlineMember& member, const RecordEntry& entry, std::string_view text) {
    const std::size_t blank = text.rfind(' ');
    const bool has_both = blank != text.npos && blank > 0;
    const std::string_view type = trimmed(has_both ? text.substr(0, blank) : text);
    member.name = has_both ? text.substr(blank + 1) : "";
    set_type(member, type);
    if (entry.bits) {
      // An unnamed bit-field is padding, and the unit of a named one is that of its type.
      member.kind = member.name.empty() ? MemberKind::gap : MemberKind::bit_field;
      member.bits = *entry.bits;
      if (member.has_unknown_size) member.bytes = 0;
      member.has_unknown_size = false;
    } else if (member.name.empty()) {
      member.kind = MemberKind::anonymous;
    }
  }

  void set_type(OutlineMember& member, std::string_view type) {
    std::string_view element = type;
    // "int[2][3]", and "int (*[3])(int)", which is an array of pointers
    const std::size_t pointers = type.find("(*[");
    const std::size_t brackets = pointers != type.npos ? pointers + 2 : type.ends_with(']') ? first_bracket(type) : type.npos;
    if (brackets != type.npos) {
      std::int64_t elements = 1;
      std::string_view rest = type.substr(brackets);
      while (rest.starts_with('[') && elements <= kLargestFigure) {
        rest.remove_prefix(1);
        elements *= take_number(rest).value_or(0);
        rest.remove_prefix(std::min(rest.find(']'), rest.size() - 1) + 1);
      }
      member.elements = std::min(elements, kLargestFigure);
      element = pointers != type.npos ? "void *" : trimmed(type.substr(0, brackets));
    }
    member.type = plain_name(element);
    const std::optional<std::int64_t> bytes = size_of(element);
    member.has_unknown_size = !bytes && member.elements != 0;
    member.bytes = bytes.value_or(0) * member.elements.value_or(1);
    const auto record = by_name_.find(member.type);
    if (record == by_name_.end() || has_name(record->second->head) || depth_ == kDeepestRecord) return;
    ++depth_;
    member.inside = std::make_shared<Outline>(outline_of(*record->second));
    --depth_;
  }

  // The brackets at the end of an array's type; a name in front of them may have brackets in its template's arguments.
  static std::size_t first_bracket(std::string_view type) {
    std::size_t at = type.size();
    while (at > 0 && type[at - 1] == ']') {
      const std::size_t open = type.rfind('[', at - 1);
      if (open == type.npos) break;
      at = open;
    }
    return at;
  }

  std::optional<std::int64_t> size_of(std::string_view type) const {
    const auto record = by_name_.find(plain_name(type));
    if (record != by_name_.end() && record->second->size >= 0) return record->second->size;
    if (const auto bytes = c_size(type, abi_)) return bytes;
    const auto learned = possible_sizes_.find(std::string(type));
    if (learned == possible_sizes_.end() || learned->second.size() != 1) return std::nullopt;
    return *learned->second.begin();
  }

  // Notes which sizes the records leave for a type that is neither a structure nor of C's own.
  void learn_sizes(const Record& record) {
    set_abi(record);
    std::vector<const RecordEntry*> members;
    for (const RecordEntry& entry : record.entries) {
      if (entry.depth == 1 && !entry.text.ends_with(" (empty)")) members.push_back(&entry);
    }
    for (const RecordEntry* member : members) {
      const std::size_t blank = member->text.rfind(' ');
      if (blank == member->text.npos || member->bits || member->text.ends_with(')')) continue;
      const std::string type(trimmed(member->text.substr(0, blank)));
      if (type.ends_with(']') || size_of(type)) continue;
      std::set<std::int64_t> possible;
      for (const std::int64_t bytes : {1, 2, 4, 8, 16}) {
        if (leaves(record, *member, members, bytes)) possible.insert(bytes);
      }
      const auto [known, is_new] = possible_sizes_.emplace(type, possible);
      if (!is_new) std::erase_if(known->second, [&possible](std::int64_t bytes) { return !possible.contains(bytes); });
    }
  }

  // Whether the member may have this size: it is aligned by it, ends before the next, and leaves no more than padding.
  static bool leaves(const Record& record, const RecordEntry& member, const std::vector<const RecordEntry*>& members,
                     std::int64_t bytes) {
    const std::int64_t begin = member.bit_offset / 8;
    const bool is_alone = members.size() == 1;
    if (begin % bytes != 0 || bytes > record.alignment) return false;
    if (is_alone && bytes != record.alignment) return false;
    std::int64_t end = record.data_size >= 0 ? record.data_size : record.size;
    for (const RecordEntry* other : members) {
      if (other->bit_offset / 8 > begin) end = std::min(end, other->bit_offset / 8);
    }
    return begin + bytes <= end && end - begin - bytes < record.alignment;
  }

  std::string file_;
  std::vector<std::string> lines_;
  std::vector<Record> records_;
  std::map<std::string, const Record*> by_name_;
  std::map<std::string, std::set<std::int64_t>> possible_sizes_;  // of types, in bytes
  NamedTypes types_;
  bool is_of_windows_ = false, has_32_bits_ = false;
  Abi abi_ = Abi::unix64;  // of the record that is being read
  int depth_ = 0;          // of records without names within each other
};

}  // namespace

ListingForm record_layouts_form() {
  return {.name = "clang-layouts",
          .what = "clang's record layouts: -Xclang -fdump-record-layouts",
          .marks = "*** Dumping AST Record Layout",
          .because = "it has the heads that clang prints",
          .is_like = [](std::string_view text) { return text.find(kAstBlock) != text.npos; },
          .read =
              [](const ListingInput& input) {
                Listing listing = RecordReader(input.file).read(input.bytes);
                listing.origin = "clang's record layouts";
                return listing;
              }};
}

}  // namespace linebounce::types
