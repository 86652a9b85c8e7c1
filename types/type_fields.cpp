#include "types/type_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace linebounce::types {
namespace {

constexpr std::int64_t kMostElements = 64;
constexpr std::size_t kMostFields = 256;
constexpr int kDeepestField = 64;

bool has_bytes(const Member& member) {
  return member.bit_offset && member.bits > 0 && member.kind != MemberKind::empty && member.kind != MemberKind::gap;
}

bool is_base(const Member& member) {
  return member.kind == MemberKind::base_class || member.kind == MemberKind::virtual_base;
}

bool has_variants(const Type& type) {
  return std::ranges::any_of(type.members, [](const Member& member) { return member.kind == MemberKind::variant; });
}

// A member's name, alone and with the base classes that it is inherited from.
struct FieldName {
  std::string plain, qualified;

  [[nodiscard]] bool empty() const { return plain.empty(); }
  [[nodiscard]] FieldName dot(const std::string& member) const {
    return empty() ? FieldName{member, qualified + member} : FieldName{plain + "." + member, qualified + "." + member};
  }
  [[nodiscard]] FieldName element(std::int64_t index) const {
    return {fmt::format("{}[{}]", plain, index), fmt::format("{}[{}]", qualified, index)};
  }
  [[nodiscard]] FieldName base(const Type& type) const { return {plain, empty() ? qualified + type.name + "::" : qualified}; }
};

class FieldList {
 public:
  FieldList(bool nested, FieldsFor use) : nested_(nested), use_(use) {}

  // Returns false if there are too many.
  bool add_whole(const Type& type) {
    if (type.is_aggregate()) return add_members(type, {}, 0, false, 0);
    return type.element == nullptr || type.elements > kMostElements || add_elements(type, {}, 0, 0);
  }

  std::vector<trace::Field> take() {
    merge();
    cover_members();
    align();
    std::vector<trace::Field> fields;
    for (Found& it : found_)
      fields.push_back({std::move(it.name.plain), it.bytes.begin, it.bytes.end - it.bytes.begin, it.alignment});
    return fields.size() > kMostFields && nested_ ? std::vector<trace::Field>{} : fields;
  }

 private:
  struct Found {
    FieldName name;
    Bytes bytes{};
    int alignment = 0;  // as of a trace's field; of a member, that of its type and declaration
  };

  // `flat`: the member of a union, which is not expanded.
  bool add(const Type& type, const FieldName& name, std::int64_t offset, bool flat, int depth) {
    if (found_.size() > kMostFields || depth > kDeepestField) return false;
    const bool expands = nested_ && !flat;
    if (expands && has_members(type) && !has_variants(type)) return add_members(type, name, offset, false, depth);
    const bool is_text = use_ == FieldsFor::layout && type.element != nullptr && type.element->size == 1;
    if (expands && type.element != nullptr && !is_text && type.elements > 0 && type.elements <= kMostElements)
      return add_elements(type, name, offset, depth);
    if (type.size > 0) found_.push_back({name, {offset, offset + type.size}});
    return true;
  }

  bool add_members(const Type& type, const FieldName& name, std::int64_t offset, bool flat, int depth, bool as_base = false) {
    if (depth > kDeepestField) return false;
    flat |= type.kind == TypeKind::union_type || has_variants(type);
    // A type that only wraps one member, such as std::mutex and std::atomic, has no useful name.
    const bool wraps = !name.empty() && std::ranges::count_if(type.members, has_bytes) == 1;
    return std::ranges::all_of(type.members, [&](const Member& member) {
      const bool is_elsewhere = as_base && member.kind == MemberKind::virtual_base;
      return !has_bytes(member) || is_elsewhere || add_member(member, name, offset, flat, wraps, depth + 1);
    });
  }

  bool add_member(const Member& member, const FieldName& name, std::int64_t offset, bool flat, bool wraps, int depth) {
    const std::int64_t begin = offset + member.begin(), end = offset + member.end();
    const bool is_nameless = member.name.empty() || is_base(member);
    if (is_nameless && member.type != nullptr && member.type->is_aggregate())
      return add_members(*member.type, is_base(member) ? name.base(*member.type) : name, begin, flat, depth, is_base(member));
    const FieldName inner = wraps || member.name.empty() ? name : name.dot(member.name);
    if (member.type == nullptr || member.kind == MemberKind::bit_field) {
      if (!inner.empty()) found_.push_back({inner, {begin, end}});
      return true;
    }
    if (inner.empty()) return true;
    constexpr std::int64_t kLargest = 1 << 20;  // of a trace
    const std::int64_t alignment = std::min(std::max(member.alignment, member.type->alignment), kLargest);
    if (name.empty()) spans_.push_back({inner, {begin, end}, static_cast<int>(alignment)});
    return add(*member.type, inner, begin, flat, depth);
  }

  bool add_elements(const Type& type, const FieldName& name, std::int64_t offset, int depth) {
    for (std::int64_t i = 0; i < type.elements; ++i) {
      if (!add(*type.element, name.element(i), offset + i * type.element->size, false, depth + 1)) return false;
    }
    return true;
  }

  // "pair+8": of one of several parts without names of their own, as std::tuple has.
  [[nodiscard]] std::string name_by_place(std::int64_t begin) const {
    const auto is_there = [begin](const Found& span) { return span.bytes.begin <= begin && begin < span.bytes.end; };
    const auto span = std::ranges::find_if(spans_, is_there);
    return span == spans_.end() ? fmt::format("+{}", begin) : fmt::format("{}+{}", span->name.plain, begin - span->bytes.begin);
  }

  // Makes one field of those that share bytes, and gives each a name of its own.
  void merge() {
    std::ranges::stable_sort(found_, [](const Found& a, const Found& b) { return a.bytes.begin < b.bytes.begin; });
    std::vector<Found> out;
    std::set<std::string> names;
    for (Found& it : found_) {
      if (names.contains(it.name.plain)) it.name.plain = it.name.qualified;
      if (!names.insert(it.name.plain).second) names.insert(it.name.plain = name_by_place(it.bytes.begin));
      if (out.empty() || out.back().bytes.end <= it.bytes.begin) {
        out.push_back(std::move(it));
        continue;
      }
      out.back().name.plain += "|" + it.name.plain;
      out.back().bytes.end = std::max(out.back().bytes.end, it.bytes.end);
    }
    found_ = std::move(out);
  }

  // Adds the bytes of the outermost members that no field has. REQUIRES: the fields are sorted.
  void cover_members() {
    std::vector<Found> rest;
    for (const Found& span : spans_) {
      const Bytes& bytes = span.bytes;
      std::int64_t end = bytes.begin;
      const auto cover = [&rest, &end, &span](std::int64_t until) {
        until = std::min(until, span.bytes.end);
        const std::string name = fmt::format("{}+{}", span.name.plain, end - span.bytes.begin);
        if (end < until) rest.push_back({{name, {}}, {end, until}});
      };
      auto field = std::ranges::lower_bound(found_, bytes.begin, {}, [](const Found& it) { return it.bytes.begin; });
      if (field != found_.begin()) end = std::max(end, std::prev(field)->bytes.end);
      for (; field != found_.end() && field->bytes.begin < bytes.end; ++field) {
        cover(field->bytes.begin);
        end = std::max(end, field->bytes.end);
      }
      cover(bytes.end);
    }
    found_.insert(found_.end(), rest.begin(), rest.end());
    std::ranges::stable_sort(found_, [](const Found& a, const Found& b) { return a.bytes.begin < b.bytes.begin; });
    // Of members that overlap, the first has the bytes that neither names.
    std::int64_t end = 0;
    std::erase_if(found_, [&end](Found& it) {
      it.bytes.begin = std::max(it.bytes.begin, end);
      end = std::max(end, it.bytes.end);
      return it.bytes.begin >= it.bytes.end;
    });
  }

  // Notes a member's alignment at its first field, if the sizes of its fields do not call for it. REQUIRES: the fields are
  // sorted.
  void align() {
    for (const Found& span : spans_) {
      const auto first = std::ranges::lower_bound(found_, span.bytes.begin, {}, [](const Found& it) { return it.bytes.begin; });
      std::int64_t implied = 1;
      for (auto field = first; field != found_.end() && field->bytes.begin < span.bytes.end; ++field) {
        std::int64_t natural = natural_alignment(field->bytes.end - field->bytes.begin);
        while (field->bytes.begin % natural != 0) natural /= 2;
        implied = std::max(implied, natural);
      }
      if (first == found_.end() || first->bytes.begin != span.bytes.begin || span.alignment <= implied) continue;
      if (span.bytes.begin % span.alignment == 0) first->alignment = std::max(first->alignment, span.alignment);
    }
  }

  bool nested_;
  FieldsFor use_;
  std::vector<Found> found_;
  std::vector<Found> spans_;  // of the outermost members, those of bases included
};

// Chooses the most informative of several members at the offset: in a union, one may be only padding to the size of a line.
const Member* member_at(const Type& type, std::int64_t offset) {
  const Member* found = nullptr;
  for (const Member& member : type.members) {
    const bool is_there = has_bytes(member) && member.type != nullptr && offset >= member.begin() && offset < member.end();
    if (!is_there) continue;
    if (!member.type->members.empty()) return &member;
    const bool is_array = member.type->element != nullptr;
    if (found == nullptr || (is_array && type.kind != TypeKind::union_type)) found = &member;
  }
  return found;
}

}  // namespace

bool has_members(const Type& type) {
  return type.kind == TypeKind::structure && std::ranges::any_of(type.members, has_bytes);
}

std::vector<trace::Field> fields_of(const Type& type, FieldsFor use) {
  if (use == FieldsFor::trace && type.kind == TypeKind::union_type) return {};
  FieldList all(true, use);
  if (all.add_whole(type)) {
    if (std::vector<trace::Field> fields = all.take(); !fields.empty()) return fields;
  }
  FieldList outer(false, use);
  return outer.add_whole(type) ? outer.take() : std::vector<trace::Field>{};
}

trace::Structure structure_of(const Type& type, FieldsFor use) {
  trace::Structure made{.name = type.name,
                        .size = type.size,
                        .alignment = static_cast<int>(std::max(type.alignment, std::int64_t{1})),
                        .fields = fields_of(type, use),
                        .source = type.source};
  for (const auto& [begin, end] : unexplained_bytes(type)) made.unexplained.push_back({"?", begin, end - begin});
  return made;
}

std::string path_in(const Type& type, std::int64_t offset) {
  const std::string rest = offset == 0 ? "" : fmt::format("+{}", offset);
  if (type.element != nullptr && type.element->size > 0) {
    return fmt::format("[{}]", offset / type.element->size) + path_in(*type.element, offset % type.element->size);
  }
  const Member* member = member_at(type, offset);
  if (member == nullptr || member->name.starts_with("__")) return rest;
  if (member->kind == MemberKind::bit_field) return "." + member->name;
  const bool is_told = !member->name.empty() && !is_base(*member) && !member->name.starts_with("_M_");
  return (is_told ? "." + member->name : "") + path_in(*member->type, offset - member->begin());
}

}  // namespace linebounce::types
