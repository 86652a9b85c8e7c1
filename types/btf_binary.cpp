// BTF as it stands in files: a header, the types one behind the other, and the strings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "types/btf.hpp"
#include "types/elf_file.hpp"

namespace linebounce::types {
namespace {

constexpr std::uint32_t kMagic = 0xeb9f;
constexpr std::uint32_t kHeaderBytes = 24;
constexpr std::string_view kOtherKernel = "the base is of another kernel";

class BinaryReader {
 public:
  BinaryReader(std::string_view bytes, std::string file, std::shared_ptr<const Btf> base)
      : data_(bytes, bytes.starts_with('\xeb')), file_(std::move(file)), btf_(std::make_shared<Btf>()) {
    btf_->base = std::move(base);
    btf_->is_binary = true;
  }

  std::shared_ptr<const Btf> read() {
    const std::int64_t header = word(4), types = header + word(8), strings = header + word(16);
    const std::int64_t types_end = types + word(12), strings_bytes = word(20);
    if (word_at(0, 2) != kMagic || word_at(2, 1) != 1 || header < kHeaderBytes)
      refuse("its header is not that of BTF, version 1");
    if (types_end > data_.size() || strings + strings_bytes > data_.size()) refuse("it is cut off");
    btf_->strings = data_.text(strings, strings_bytes);
    inherited_ = strings_of_bases();
    number_ = first_number();
    // Only the strings of a whole begin with the empty one.
    btf_->lacks_base = btf_->base == nullptr && !btf_->strings.starts_with('\0');
    if (btf_->lacks_base) refuse("these types are of a kernel module and need those of its kernel (--base FILE)");
    for (at_ = types; at_ < types_end;) {
      BtfType type = next_type(types_end);
      btf_->types.emplace_hint(btf_->types.end(), number_++, std::move(type));
    }
    return btf_;
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const { throw ReadError(fmt::format("{}: BTF: {}", file_, why)); }

  [[nodiscard]] std::int64_t word_at(std::int64_t at, int bytes) const {
    const auto value = data_.number(at, bytes);
    if (!value) refuse("it is cut off");
    return *value;
  }
  [[nodiscard]] std::int64_t word(std::int64_t at) const { return word_at(at, 4); }
  std::int64_t take() { return word(std::exchange(at_, at_ + 4)); }

  [[nodiscard]] std::int64_t strings_of_bases() const {
    std::int64_t bytes = 0;
    for (const Btf* base = btf_->base.get(); base != nullptr; base = base->base.get()) {
      if (!base->is_binary) refuse("its base must be a file of the kernel's, and not a listing of it");
      bytes += std::ssize(base->strings);
    }
    return bytes;
  }

  [[nodiscard]] std::int64_t first_number() const {
    std::int64_t number = 1;
    for (const Btf* base = btf_->base.get(); base != nullptr && number == 1; base = base->base.get()) {
      if (!base->types.empty()) number = base->types.rbegin()->first + 1;
    }
    return number;
  }

  // A string that does not begin where its offset says belongs to another table, which a wrong base shows first.
  [[nodiscard]] std::string name(std::int64_t offset) const {
    const Btf* owner = btf_.get();
    std::int64_t begin = inherited_;
    while (offset < begin) {
      owner = owner->base.get();
      begin -= owner->base == nullptr ? begin : std::ssize(owner->strings);
    }
    const std::string& strings = owner->strings;
    const std::int64_t at = offset - begin;
    const std::size_t end = at < std::ssize(strings) ? strings.find('\0', at) : strings.npos;
    if (end == strings.npos) refuse(btf_->base == nullptr ? "a name lies outside of its strings" : kOtherKernel);
    if (at > 0 && strings[at - 1] != '\0') refuse(btf_->base == nullptr ? "a name begins within another" : kOtherKernel);
    std::string text = strings.substr(at, static_cast<std::ptrdiff_t>(end) - at);
    if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }))
      refuse("a name contains control characters");
    return text;
  }

  BtfType next_type(std::int64_t end) {
    BtfType type;
    type.name = name(take());
    const std::int64_t info = take(), size_or_type = take();
    const std::int64_t count = info & 0xffff, kind = info >> 24 & 0x1f;
    const bool has_bitfields = (info >> 31) != 0;
    if (kind < 1 || kind >= kBtfKinds)
      refuse(fmt::format("type {} is of kind {}, which this program does not know", number_, kind));
    type.kind = static_cast<BtfKind>(kind);
    type.size = size_or_type;
    type.type = size_or_type;
    const std::int64_t item = bytes_of_item(type.kind);
    if (at_ + item * (is_one_item(type.kind) ? 1 : count) > end) refuse("it is cut off");
    read_items(type, count, item, has_bitfields);
    return type;
  }

  // Bytes behind the first twelve: of each member, parameter or value; for some kinds of the type itself.
  static std::int64_t bytes_of_item(BtfKind kind) {
    switch (kind) {
      case BtfKind::structure:
      case BtfKind::union_type:
      case BtfKind::array:
      case BtfKind::section:
      case BtfKind::enumeration64: return 12;
      case BtfKind::enumeration:
      case BtfKind::prototype: return 8;
      case BtfKind::integer:
      case BtfKind::variable:
      case BtfKind::declaration_tag: return 4;
      default: return 0;
    }
  }
  static bool is_one_item(BtfKind kind) {
    return kind == BtfKind::array || kind == BtfKind::integer || kind == BtfKind::variable || kind == BtfKind::declaration_tag;
  }

  void read_items(BtfType& type, std::int64_t count, std::int64_t item, bool has_bitfields) {
    if (type.kind == BtfKind::integer) {
      const std::int64_t encoding = take();
      type.integer_bits = encoding & 0xff;
      type.integer_begin = encoding >> 16 & 0xff;
    } else if (type.kind == BtfKind::array) {
      type.type = take();
      take();  // the type of its index
      type.elements = take();
    } else if (type.is_aggregate()) {
      for (std::int64_t i = 0; i < count; ++i) type.members.push_back(member(has_bitfields));
    } else {
      at_ += item * (is_one_item(type.kind) ? 1 : count);
    }
  }

  BtfMember member(bool has_bitfields) {
    BtfMember member;
    member.name = name(take());
    member.type = take();
    const std::int64_t place = take();
    member.bit_offset = has_bitfields ? place & 0xffffff : place;
    member.bitfield = has_bitfields ? place >> 24 : 0;
    return member;
  }

  ByteView data_;
  std::string file_;
  std::shared_ptr<Btf> btf_;
  std::int64_t at_ = 0, number_ = 1;
  std::int64_t inherited_ = 0;  // bytes of the bases' strings
};

}  // namespace

bool is_binary_btf(std::string_view bytes) {
  return bytes.starts_with("\x9f\xeb\x01") || bytes.starts_with("\xeb\x9f\x01");
}

std::shared_ptr<const Btf> read_binary_btf(std::string_view bytes, const std::string& file, std::shared_ptr<const Btf> base) {
  return BinaryReader(bytes, file, std::move(base)).read();
}

}  // namespace linebounce::types
