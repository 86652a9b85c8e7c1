// What g++ -fdump-lang-class writes about classes (before gcc 8: -fdump-class-hierarchy):
//
//   Class lay::Derived
//      size=40 align=8
//      base size=33 base align=8
//   lay::Derived (0x0x7f6a0) 0
//       vptr=((& lay::Derived::_ZTVN3lay7DerivedE) + 24)
//   lay::Base (0x0x7f6a1) 16 virtual
//
// It has sizes, bases and pointers to vtables, but no members.
#include "types/class_hierarchy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/text/text_lines.hpp"
#include "models/text/trimmed.hpp"
#include "types/member_declaration.hpp"
#include "types/named_types.hpp"

namespace linebounce::types {
namespace {

constexpr std::string_view kClass = "Class ";

// "size=40" or "base size=33"; none if the word is missing.
std::optional<std::int64_t> class_figure(std::string_view line, std::string_view word) {
  if (!line.starts_with(word)) return std::nullopt;
  line.remove_prefix(word.size());
  const auto number = take_number(line);
  return number && *number <= kLargestFigure ? number : std::nullopt;
}

struct ClassDump {
  Outline outline{};
  std::int64_t base_size = -1;
  bool is_own_line = false;  // the last line named the class itself
  bool has_vtable_pointer = false, has_primary_base = false;
};

class ClassReader {
 public:
  explicit ClassReader(std::string file) : file_(std::move(file)) {}

  Listing read(std::string_view text) {
    for (const std::string& whole : text_lines(text)) read_line(whole);
    close();
    for (const auto& [name, bytes] : base_sizes_) known_[name] = bytes;
    for (ClassDump& dump : dumps_) finish(dump);
    if (types_.is_empty())
      throw ReadError(fmt::format("{}: gcc's classes: there is none; expected Class NAME, and size=8 below it", file_));
    return types_.listing();
  }

 private:
  void read_line(std::string_view line) {
    if (line.starts_with(kClass)) {
      close();
      open_ = true;
      dump_.outline.name = trimmed(line.substr(kClass.size()));
      return;
    }
    if (!open_) return;
    const std::string_view text = trimmed(line);
    if (text.empty() || line.starts_with("Vtable ") || line.starts_with("VTT ")) return close();
    if (const auto size = class_figure(text, "size=")) {
      dump_.outline.size = *size;
      const std::size_t align = text.find("align=");
      if (align != text.npos) dump_.outline.alignment = class_figure(text.substr(align), "align=").value_or(0);
      dump_.outline.has_exact_alignment = dump_.outline.alignment > 0;
    } else if (const auto base = class_figure(text, "base size=")) {
      dump_.base_size = *base;
    } else if (line.front() != ' ') {
      read_subobject(text);
    } else {
      read_detail(text);
    }
  }

  // "lay::Base (0x0x7f6a1) 16 virtual"
  void read_subobject(std::string_view text) {
    const std::size_t address = text.find(" (0x");
    const std::size_t end = text.find(')', address);
    if (address == text.npos || end == text.npos) return;
    std::string_view rest = text.substr(end + 1);
    const auto offset = take_number(rest);
    const std::string name(text.substr(0, address));
    dump_.is_own_line = offset == 0 && name == dump_.outline.name;
    if (dump_.is_own_line || !offset || *offset > kLargestFigure) return;  // or "alternative-path"
    // Without a type, because the members of none are known: a base is taken as a whole.
    OutlineMember base{.name = name, .kind = MemberKind::base_class, .bit_offset = *offset * 8};
    if (rest.find("virtual") != rest.npos) base.kind = MemberKind::virtual_base;
    if (rest.find("empty") != rest.npos) base.kind = MemberKind::empty;
    dump_.outline.members.push_back(std::move(base));
  }

  // "vptr=((& lay::Derived::_ZTV3Job) + 16)", "primary-for lay::Derived (0x...)"
  void read_detail(std::string_view text) {
    const std::size_t pointer = text.find("vptr=");
    const bool has_pointer = pointer != text.npos;
    // It points behind two words at least.
    const std::size_t plus = has_pointer ? text.find(" + ", pointer) : text.npos;
    if (plus != text.npos) {
      const std::int64_t behind = class_figure(text.substr(plus), " + ").value_or(0);
      if (behind % kListedPointerBytes != 0 || behind == kListedPointerBytes) pointer_bytes_ = kListedPointerBytes / 2;
    }
    if (dump_.is_own_line) dump_.has_vtable_pointer |= has_pointer;
    const std::string primary = fmt::format("primary-for {} (", dump_.outline.name);
    dump_.has_primary_base |= text.find(primary) != text.npos;
  }

  void close() {
    if (open_ && dump_.outline.size >= 0) {
      base_sizes_.emplace_back(dump_.outline.name, dump_.base_size);
      dumps_.push_back(std::move(dump_));
    } else if (open_) {
      types_.refuse(dump_.outline.name, "its size is missing: the text is cut off, or the class is only declared");
    }
    dump_ = {};
    open_ = false;
  }

  void finish(ClassDump& dump) {
    Outline& outline = dump.outline;
    std::vector<OutlineMember> bases = std::exchange(outline.members, {});
    if (dump.has_vtable_pointer && !dump.has_primary_base) {
      OutlineMember pointer{.name = "_vptr", .kind = MemberKind::vtable_pointer, .bytes = pointer_bytes_};
      outline.members.push_back(std::move(pointer));
    }
    for (OutlineMember& base : bases) {
      const auto known = known_.find(base.name);
      base.bytes = known == known_.end() ? 0 : std::max(known->second, std::int64_t{0});
      base.has_unknown_size = known == known_.end();
      // A base of a base lies within it.
      if (!lies_within(base, outline.members)) outline.members.push_back(std::move(base));
    }
    const bool is_empty_class = outline.size == 1 && dump.base_size == 0;
    if (!is_empty_class) outline.untold.push_back({0, outline.size});
    types_.add(std::move(outline));
  }

  static bool lies_within(const OutlineMember& base, const std::vector<OutlineMember>& members) {
    return std::ranges::any_of(members, [&base](const OutlineMember& other) {
      return other.kind == MemberKind::base_class && base.kind != MemberKind::virtual_base && base.begin() >= other.begin() &&
             base.begin() < other.begin() + other.bytes;
    });
  }

  std::string file_;
  ClassDump dump_{};
  bool open_ = false;
  std::vector<ClassDump> dumps_;
  std::vector<std::pair<std::string, std::int64_t>> base_sizes_;
  std::map<std::string, std::int64_t> known_;  // each class's size as a base
  std::int64_t pointer_bytes_ = kListedPointerBytes;
  NamedTypes types_;
};

}  // namespace

ListingForm class_hierarchy_form() {
  return {.name = "gcc-class",
          .what = "gcc's classes: -fdump-lang-class",
          .marks = "Class NAME, and size=8 align=8 below it",
          .because = "it has the heads that gcc writes",
          .is_like =
              [](std::string_view text) {
                const bool has_class = text.starts_with(kClass) || text.find("\nClass ") != text.npos;
                return has_class && text.find("base size=") != text.npos;
              },
          .read =
              [](const ListingInput& input) {
                Listing listing = ClassReader(input.file).read(input.bytes);
                listing.origin = "gcc's -fdump-lang-class";
                return listing;
              }};
}

}  // namespace linebounce::types
