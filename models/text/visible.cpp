#include "models/text/visible.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace linebounce {
namespace {

struct Range {
  std::uint32_t first, last;
};

// The characters that visible() escapes: control characters, and Unicode's line separators and marks of writing direction.
constexpr std::array<Range, 9> kActive = {{{0x00, 0x08},
                                           {0x0B, 0x1F},
                                           {0x7F, 0x9F},
                                           {0x061C, 0x061C},
                                           {0x200E, 0x200F},
                                           {0x2028, 0x2029},
                                           {0x202A, 0x202E},
                                           {0x2066, 0x2069},
                                           {0xFEFF, 0xFEFF}}};

std::uint32_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Decodes one UTF-8 character. REQUIRES: `bytes` has the length that utf8_length() returns.
std::uint32_t code_point(std::string_view bytes) {
  if (bytes.size() == 1) return byte_at(bytes, 0);
  std::uint32_t point = byte_at(bytes, 0) & (0xFFU >> (bytes.size() + 1));
  for (std::size_t i = 1; i < bytes.size(); ++i) point = point << 6 | (byte_at(bytes, i) & 0x3F);
  return point;
}

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

bool is_active(std::uint32_t point) {
  return std::any_of(kActive.begin(), kActive.end(),
                     [point](const Range& range) { return range.first <= point && point <= range.last; });
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const std::uint32_t first = byte_at(text, 0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (text.size() < length) return 0;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  if (!std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(length), continues)) return 0;
  const std::uint32_t point = code_point(text.substr(0, length));
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  return point < kLeast.at(length) || point > 0x10FFFF || surrogate ? 0 : length;
}

bool is_utf8(std::string_view text) {
  for (;;) {
    text.remove_prefix(
        static_cast<std::size_t>(std::ranges::find_if(text, [](char c) { return !is_ascii(c); }) - text.begin()));
    if (text.empty()) return true;
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
}

namespace {

std::string escaped(std::string_view text, bool spaces) {
  // The case of nearly all names, of which a run has thousands.
  if (std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; })) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      out += fmt::format("\\x{:02x}", byte_at(text, 0));
    } else if (const std::uint32_t point = code_point(text.substr(0, length));
               is_active(point) || (spaces && (point == '\n' || point == '\t'))) {
      out += fmt::format("\\u{:04x}", point);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

}  // namespace

std::string visible(std::string_view text) {
  return escaped(text, false);
}

std::string visible_name(std::string_view text) {
  return escaped(text, true);
}

}  // namespace linebounce
