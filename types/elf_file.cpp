#include "types/elf_file.hpp"

#include <algorithm>

namespace linebounce::types {
namespace {

constexpr int kWide = 2, kBigEndian = 2;      // in the bytes 4 and 5 of the header
constexpr std::int64_t kHasNoBytes = 8;       // SHT_NOBITS
constexpr std::int64_t kManySections = 0xffff;  // SHN_XINDEX

class SectionTable {
 public:
  explicit SectionTable(std::string_view file)
      : is_wide_(file.size() > 5 && file[4] == kWide), data_(file, file.size() > 5 && file[5] == kBigEndian) {
    begin_ = is_wide_ ? field(0x28, 8) : field(0x20, 4);
    entry_ = field(is_wide_ ? 0x3a : 0x2e, 2);
    count_ = field(is_wide_ ? 0x3c : 0x30, 2);
    std::int64_t names = field(is_wide_ ? 0x3e : 0x32, 2);
    if (count_ == 0) count_ = size(0);
    if (names == kManySections) names = field(entry(0) + (is_wide_ ? 0x28 : 0x18), 4);
    names_ = bytes(names);
  }

  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const {
    const std::int64_t most = entry_ <= 0 ? 0 : std::min(count_, data_.size() / entry_);
    for (std::int64_t i = 1; i < most; ++i) {
      const std::int64_t at = field(entry(i), 4);
      if (at < 0 || at >= std::ssize(names_)) continue;
      const std::string_view found = names_.substr(at, names_.find('\0', at) - at);
      if (found == name && field(entry(i) + 4, 4) != kHasNoBytes && !bytes(i).empty()) return bytes(i);
    }
    return std::nullopt;
  }

 private:
  // -1 if it lies outside of the file.
  [[nodiscard]] std::int64_t field(std::int64_t at, int bytes) const {
    const auto value = at < 0 ? std::nullopt : data_.number(at, bytes);
    return value && static_cast<std::int64_t>(*value) >= 0 && *value <= static_cast<std::uint64_t>(INT64_MAX)
               ? static_cast<std::int64_t>(*value)
               : -1;
  }
  [[nodiscard]] std::int64_t entry(std::int64_t number) const {
    return begin_ < 0 || begin_ > data_.size() || number < 0 || number > data_.size() ? -1 : begin_ + number * entry_;
  }
  [[nodiscard]] std::int64_t size(std::int64_t number) const {
    const std::int64_t at = entry(number);
    return at < 0 ? -1 : is_wide_ ? field(at + 0x20, 8) : field(at + 0x14, 4);
  }
  [[nodiscard]] std::string_view bytes(std::int64_t number) const {
    const std::int64_t at = entry(number);
    if (at < 0) return {};
    return data_.text(is_wide_ ? field(at + 0x18, 8) : field(at + 0x10, 4), size(number));
  }

  bool is_wide_;
  ByteView data_;
  std::int64_t begin_ = -1, entry_ = 0, count_ = 0;
  std::string_view names_;
};

}  // namespace

std::optional<std::uint64_t> ByteView::number(std::int64_t at, int bytes) const {
  if (at < 0 || at > size() - bytes) return std::nullopt;
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(bytes_[at + (is_big_endian_ ? i : bytes - 1 - i)]);
    value = value << 8 | byte;
  }
  return value;
}

std::string_view ByteView::text(std::int64_t at, std::int64_t bytes) const {
  if (at < 0 || bytes < 0 || at > size() || bytes > size() - at) return {};
  return bytes_.substr(at, bytes);
}

bool is_elf(std::string_view bytes) {
  return bytes.starts_with("\x7f"
                           "ELF");
}

std::optional<std::string_view> elf_section(std::string_view file, std::string_view name) {
  if (!is_elf(file)) return std::nullopt;
  return SectionTable(file).find(name);
}

}  // namespace linebounce::types
