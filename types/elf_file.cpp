#include "types/elf_file.hpp"

#include <algorithm>
#include <vector>

namespace linebounce::types {
namespace {

constexpr char kWide = 2, kBigEndian = 2;  // in the bytes 4 and 5 of the header
constexpr std::int64_t kElfHeaderBytes = 64;
constexpr std::int64_t kHasNoBytes = 8;                                                                 // SHT_NOBITS
constexpr std::int64_t kManySections = 0xffff;                                                          // SHN_XINDEX
constexpr std::int64_t kLargestTable = std::int64_t{1} << 28, kLargestSection = std::int64_t{1} << 30;  // bytes

struct ElfSection {
  std::int64_t name = 0, type = 0, begin = 0, size = 0, link = 0;
};

class SectionTable {
 public:
  explicit SectionTable(std::istream& file) : file_(file) {
    const std::string header = bytes(0, kElfHeaderBytes);
    if (!is_elf(header) || std::ssize(header) < kElfHeaderBytes) return;
    is_wide_ = header[4] == kWide;
    is_big_endian_ = header[5] == kBigEndian;
    const ByteView view(header, is_big_endian_);
    begin_ = is_wide_ ? number(view, 0x28, 8) : number(view, 0x20, 4);
    entry_ = number(view, is_wide_ ? 0x3a : 0x2e, 2);
    std::int64_t count = number(view, is_wide_ ? 0x3c : 0x30, 2);
    std::int64_t names = number(view, is_wide_ ? 0x3e : 0x32, 2);
    if (entry_ < (is_wide_ ? 0x40 : 0x28)) return;
    // A file with very many sections has their number in the first one.
    const std::vector<ElfSection> first = sections(1);
    if (first.empty()) return;
    if (count == 0) count = first.front().size;
    if (names == kManySections) names = first.front().link;
    sections_ = sections(count);
    if (names < std::ssize(sections_)) names_ = bytes(sections_[names].begin, std::min(sections_[names].size, kLargestTable));
  }

  [[nodiscard]] std::optional<std::string> find(std::string_view name) const {
    for (const ElfSection& section : sections_) {
      if (section.name >= std::ssize(names_) || section.type == kHasNoBytes || section.size > kLargestSection) continue;
      const std::string_view rest = std::string_view(names_).substr(section.name);
      if (rest.substr(0, rest.find('\0')) != name) continue;
      std::string found = bytes(section.begin, section.size);
      if (!found.empty()) return found;
    }
    return std::nullopt;
  }

 private:
  // 0 if it lies outside.
  static std::int64_t number(const ByteView& view, std::int64_t at, int bytes) { return view.number(at, bytes).value_or(0); }

  // Fewer than asked for, at the end of the file.
  [[nodiscard]] std::string bytes(std::int64_t at, std::int64_t count) const {
    file_.clear();
    file_.seekg(0, std::ios::end);
    const std::int64_t end = file_.tellg();
    if (at < 0 || count <= 0 || at >= end) return {};
    std::string found(std::min(count, end - at), '\0');
    file_.seekg(at);
    file_.read(found.data(), std::ssize(found));
    found.resize(file_.gcount());
    return found;
  }

  [[nodiscard]] std::vector<ElfSection> sections(std::int64_t count) const {
    if (count <= 0 || count > kLargestTable / entry_) return {};
    const std::string table = bytes(begin_, count * entry_);
    const ByteView view(table, is_big_endian_);
    std::vector<ElfSection> found;
    for (std::int64_t at = 0; at + entry_ <= view.size(); at += entry_) {
      const int word = is_wide_ ? 8 : 4;
      found.push_back({.name = number(view, at, 4),
                       .type = number(view, at + 4, 4),
                       .begin = number(view, at + (is_wide_ ? 0x18 : 0x10), word),
                       .size = number(view, at + (is_wide_ ? 0x20 : 0x14), word),
                       .link = number(view, at + (is_wide_ ? 0x28 : 0x18), 4)});
    }
    return found;
  }

  std::istream& file_;
  bool is_wide_ = true, is_big_endian_ = false;
  std::int64_t begin_ = 0, entry_ = 0;
  std::vector<ElfSection> sections_;
  std::string names_;
};

}  // namespace

std::optional<std::int64_t> ByteView::number(std::int64_t at, int bytes) const {
  if (at < 0 || at > size() - bytes) return std::nullopt;
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(bytes_[at + (is_big_endian_ ? i : bytes - 1 - i)]);
    value = value << 8 | byte;
  }
  return value > static_cast<std::uint64_t>(INT64_MAX) ? std::nullopt : std::optional(static_cast<std::int64_t>(value));
}

std::string_view ByteView::text(std::int64_t at, std::int64_t bytes) const {
  if (at < 0 || bytes < 0 || at > size() || bytes > size() - at) return {};
  return bytes_.substr(at, bytes);
}

bool is_elf(std::string_view bytes) {
  return bytes.starts_with(
      "\x7f"
      "ELF");
}

std::optional<std::string> elf_section(std::istream& file, std::string_view name) {
  return SectionTable(file).find(name);
}

}  // namespace linebounce::types
