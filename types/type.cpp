#include "types/type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

namespace linebounce::types {
namespace {

constexpr int kDeepestType = 64;                     // of types within types; none in a program comes near
constexpr std::int64_t kMostPartsOfArray = 1 << 16;  // of an array whose elements have gaps
constexpr std::int64_t kLargestAlignment = 1 << 12;  // that is believed without being stated

// A part of a structure, by its innermost member.
struct Part {
  Bytes bytes{};
  ByteUse use = ByteUse::member;
  std::int64_t alignment = 1;  // the largest of the members that begin here
};

std::int64_t aligned(std::int64_t offset, std::int64_t alignment) {
  return alignment <= 1 ? offset : (offset + alignment - 1) / alignment * alignment;
}

std::int64_t size_of(const Member& member) {
  return member.type == nullptr ? 0 : member.type->size;
}

std::int64_t alignment_of(const Member& member) {
  return std::max(member.alignment, member.type == nullptr ? std::int64_t{1} : member.type->alignment);
}

// The end of what a member uses. Only a base class and a [[no_unique_address]] member lend their tail padding, and the latter
// looks like any other member.
std::int64_t end_of(const Member& member) {
  return member.kind == MemberKind::empty || !member.bit_offset ? 0 : member.end();
}

class ByteMap {
 public:
  // What the type is in the structure around it. A base has no virtual bases. What a variant does not cover is of the tag or of
  // other variants, so its enum judges it.
  enum class As : std::uint8_t { whole, base, variant };

  ByteMap(const Type& type, As as, int depth) : type_(type), as_(as), depth_(depth) {
    limit_ = as == As::base ? base_size(type) : type.size;
  }

  std::vector<Part> parts() {
    if (limit_ <= 0) return {};
    if (type_.kind == TypeKind::array) {
      add_elements();
    } else if (!type_.is_aggregate() || depth_ == kDeepestType) {
      found_.push_back({{0, limit_}, ByteUse::member, type_.alignment});
    } else {
      for (const Member& member : type_.members) add(member);
      for (const Bytes& bytes : type_.untold) put(bytes.begin, bytes.end, ByteUse::unexplained, 1);
    }
    return covered();
  }

 private:
  void put(std::int64_t begin, std::int64_t end, ByteUse use, std::int64_t alignment) {
    begin = std::max(begin, std::int64_t{0});
    end = std::min(end, limit_);
    if (begin < end) found_.push_back({{begin, end}, use, alignment});
  }

  void put(const std::vector<Part>& parts, std::int64_t at) {
    for (const Part& part : parts) put(part.bytes.begin + at, part.bytes.end + at, part.use, part.alignment);
  }

  void add_elements() {
    const Type* element = type_.element.get();
    if (element == nullptr || element->size <= 0 || type_.elements != limit_ / element->size) {
      put(0, limit_, ByteUse::member, type_.alignment);
      return;
    }
    const std::vector<Part> one = ByteMap(*element, As::whole, depth_ + 1).parts();
    const bool is_full = std::ranges::all_of(one, [](const Part& part) { return part.use == ByteUse::member; });
    if (is_full || type_.elements * std::ssize(one) > kMostPartsOfArray) {
      const bool is_known = std::ranges::all_of(one, [](const Part& part) { return part.use != ByteUse::unexplained; });
      put(0, limit_, is_known ? ByteUse::member : ByteUse::unexplained, type_.alignment);
      return;
    }
    for (std::int64_t i = 0; i < type_.elements; ++i) put(one, i * element->size);
  }

  void add(const Member& member) {
    if (!member.bit_offset) {
      lacks_place_ |= !(as_ == As::base && member.kind == MemberKind::virtual_base);
      return;
    }
    const std::int64_t begin = member.begin();
    switch (member.kind) {
      case MemberKind::gap: return put(begin, member.end(), ByteUse::gap, alignment_of(member));
      case MemberKind::empty: return put(begin, begin + size_of(member), ByteUse::gap, alignment_of(member));
      case MemberKind::bit_field: return add_bit_field(member);
      case MemberKind::virtual_base:
        if (as_ != As::base) add_base(member);
        return;
      case MemberKind::base_class: return add_base(member);
      case MemberKind::variant:
        if (member.type != nullptr) put(ByteMap(*member.type, As::variant, depth_ + 1).parts(), begin);
        return;
      default: break;
    }
    if (member.type == nullptr && member.bits == 0) of_unknown_size_.push_back(begin);
    if (member.bits == 0) return;
    const bool has_parts = member.type != nullptr && member.type->size == member.end() - begin;
    if (!has_parts) return put(begin, member.end(), ByteUse::member, alignment_of(member));
    std::vector<Part> parts = ByteMap(*member.type, As::whole, depth_ + 1).parts();
    if (!parts.empty()) parts.front().alignment = std::max(parts.front().alignment, alignment_of(member));
    put(parts, begin);
  }

  // The rest of the unit may be of unnamed bit-fields.
  void add_bit_field(const Member& member) {
    put(member.begin(), member.end(), ByteUse::member, alignment_of(member));
    const std::int64_t unit = size_of(member);
    if (unit <= 0) return;
    put(member.begin() / unit * unit, aligned(member.end(), unit), ByteUse::gap, 1);
  }

  void add_base(const Member& member) {
    if (member.type == nullptr) of_unknown_size_.push_back(member.begin());
    if (member.type == nullptr) return;
    std::vector<Part> parts = ByteMap(*member.type, As::base, depth_ + 1).parts();
    if (!parts.empty()) parts.front().alignment = std::max(parts.front().alignment, alignment_of(member));
    const std::int64_t end = member.begin() + base_size(*member.type);
    put(parts, member.begin());
    const bool has_virtual = std::ranges::any_of(member.type->members, &is_virtual);
    if (!has_virtual) put(end, member.begin() + member.type->size, ByteUse::gap, 1);
  }

  static bool is_virtual(const Member& member) { return member.kind == MemberKind::virtual_base; }

  // Resolves overlaps, members first, and judges the bytes that nothing covers.
  std::vector<Part> covered() {
    std::vector<std::int64_t> cuts = {0, limit_};
    for (const Part& part : found_) cuts.insert(cuts.end(), {part.bytes.begin, part.bytes.end});
    std::ranges::sort(cuts);
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    std::ranges::stable_sort(found_, [](const Part& a, const Part& b) { return a.bytes.begin < b.bytes.begin; });
    std::vector<Part> out;
    std::vector<Part> open;
    std::size_t next = 0;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      const Bytes here{cuts[i], cuts[i + 1]};
      std::erase_if(open, [&here](const Part& part) { return part.bytes.end <= here.begin; });
      std::int64_t alignment = 1;
      for (; next < found_.size() && found_[next].bytes.begin == here.begin; ++next) {
        open.push_back(found_[next]);
        alignment = std::max(alignment, found_[next].alignment);
      }
      append(out, {here, use_of(open), alignment});
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (out[i].use != kHole) continue;
      const std::int64_t next_alignment = i + 1 < out.size() ? out[i + 1].alignment : 1;
      if (as_ == As::variant) continue;
      out[i].use = is_padding(out[i].bytes, next_alignment) ? ByteUse::gap : ByteUse::unexplained;
    }
    std::erase_if(out, [](const Part& part) { return part.use == kHole; });
    return out;
  }

  static constexpr auto kHole = static_cast<ByteUse>(3);

  static ByteUse use_of(const std::vector<Part>& open) {
    for (const ByteUse use : {ByteUse::member, ByteUse::gap, ByteUse::unexplained}) {
      if (std::ranges::any_of(open, [use](const Part& part) { return part.use == use; })) return use;
    }
    return kHole;
  }

  // Parts that begin at an aligned member stay apart, so that the hole before one knows its alignment.
  static void append(std::vector<Part>& out, const Part& part) {
    if (!out.empty() && out.back().use == part.use && part.alignment == 1) {
      out.back().bytes.end = part.bytes.end;
    } else {
      out.push_back(part);
    }
  }

  [[nodiscard]] bool is_padding(const Bytes& hole, std::int64_t next_alignment) const {
    if (type_.is_variant) return true;
    const auto begins_here = [&hole](std::int64_t begin) { return hole.begin <= begin && begin < hole.end; };
    if (lacks_place_ || std::ranges::any_of(of_unknown_size_, begins_here)) return false;
    const bool is_tail = hole.end == type_.size;
    const bool is_whole = is_tail && hole.begin == 0;
    if (is_whole)
      return is_empty(type_) && (type_.size <= std::max(std::int64_t{1}, type_.alignment) || !type_.states_alignment);
    // Go keeps a byte behind a last member without size, so that its address stays inside.
    const bool is_kept = is_tail && std::ranges::any_of(type_.members, [&hole](const Member& member) {
                           return member.type != nullptr && member.type->size == 0 && member.bit_offset == hole.begin * 8;
                         });
    if (is_kept && aligned(hole.begin + 1, type_.alignment) == hole.end) return true;
    if (type_.gaps) return are_gaps(hole);
    const auto reaches = [&hole](std::int64_t alignment) { return aligned(hole.begin, alignment) == hole.end; };
    // A packed structure lowers its members' alignment.
    if (reaches(is_tail ? type_.alignment : next_alignment) || reaches(std::min(type_.alignment, next_alignment))) return true;
    if (type_.states_alignment) return false;
    for (std::int64_t alignment = 2; alignment <= kLargestAlignment; alignment *= 2) {
      if (reaches(alignment) && type_.size % alignment == 0) return true;
    }
    return false;
  }

  // Whether the source lists the bytes as gaps, which may follow each other: a member without bytes is between them.
  [[nodiscard]] bool are_gaps(const Bytes& hole) const {
    std::int64_t end = hole.begin;
    for (const Bytes& gap : *type_.gaps) {
      if (gap.begin <= end && gap.end > end && gap.end <= type_.size) end = gap.end;
    }
    return end >= hole.end;
  }

  const Type& type_;
  As as_;
  int depth_;
  std::int64_t limit_ = 0;
  bool lacks_place_ = false;                   // a member lies at an unknown place, perhaps in a hole
  std::vector<std::int64_t> of_unknown_size_;  // where such members begin
  std::vector<Part> found_;
};

std::int64_t end_of_members(const Type& type, bool with_virtual_bases) {
  if (!type.is_aggregate()) return type.size;
  std::int64_t end = 0;
  for (const Member& member : type.members) {
    if (member.kind == MemberKind::virtual_base && !with_virtual_bases) continue;
    end = std::max(end, end_of(member));
  }
  return std::min(end, type.size);
}

}  // namespace

std::vector<UsedBytes> bytes_of(const Type& type) {
  std::vector<UsedBytes> out;
  for (const Part& part : ByteMap(type, ByteMap::As::whole, 0).parts()) {
    if (!out.empty() && out.back().use == part.use) {
      out.back().bytes.end = part.bytes.end;
    } else {
      out.push_back({part.bytes, part.use});
    }
  }
  return out;
}

std::vector<Bytes> unexplained_bytes(const Type& type) {
  std::vector<Bytes> out;
  for (const UsedBytes& part : bytes_of(type)) {
    if (part.use == ByteUse::unexplained) out.push_back(part.bytes);
  }
  return out;
}

std::string bytes_text(const std::vector<Bytes>& bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto& [begin, end] = bytes[i];
    if (i > 0) text += i + 1 == bytes.size() ? " and " : ", ";
    text += end - begin == 1 ? fmt::format("{}", begin) : fmt::format("{} to {}", begin, end - 1);
  }
  if (text.empty()) return text;
  const bool is_one = bytes.size() == 1 && bytes.front().end - bytes.front().begin == 1;
  return (is_one ? "byte " : "bytes ") + text;
}

std::int64_t data_size(const Type& type) {
  return end_of_members(type, true);
}

std::int64_t base_size(const Type& type) {
  return end_of_members(type, false);
}

bool is_empty(const Type& type) {
  return type.is_aggregate() &&
         std::ranges::all_of(type.members, [](const Member& member) { return member.kind == MemberKind::empty; });
}

std::int64_t alignment_by_members(const Type& type) {
  std::int64_t wanted = 1;
  bool is_packed = false;
  for (const Member& member : type.members) {
    if (!member.bit_offset) continue;
    const std::int64_t alignment = std::max(alignment_of(member), std::int64_t{1});
    is_packed |= member.bits > 0 && member.kind != MemberKind::bit_field && member.begin() % alignment != 0;
    wanted = std::max(wanted, alignment);
  }
  while (wanted > 1 && type.size % wanted != 0) wanted /= 2;
  if (!is_packed) return wanted;
  // Of a packed structure, only padding shows an alignment.
  std::int64_t shown = 1, end = 0;
  for (const Member& member : type.members) {
    if (!member.bit_offset || member.bits == 0) continue;
    if (member.begin() > end)
      shown = std::max(shown, std::int64_t{1} << std::countr_zero(static_cast<std::uint64_t>(member.begin())));
    end = std::max(end, member.end());
  }
  if (type.size > end)
    shown = std::max(shown, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(type.size - end) + 1)));
  return std::min(wanted, shown);
}

std::int64_t natural_alignment(std::int64_t bytes) {
  constexpr std::int64_t kLargest = 8;
  std::int64_t alignment = kLargest;
  while (alignment > 1 && (bytes == 0 || bytes % alignment != 0)) alignment /= 2;
  return alignment;
}

std::int64_t scalar_alignment(std::int64_t bytes) {
  return bytes > 0 && bytes <= 16 && std::has_single_bit(static_cast<std::uint64_t>(bytes)) ? bytes : 1;
}

}  // namespace linebounce::types
