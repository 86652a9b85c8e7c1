#include "types/c_sizes.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "models/text/trimmed.hpp"
#include "types/member_declaration.hpp"

namespace linebounce::types {
namespace {

constexpr std::int64_t kPointer = 8;

struct NamedSize {
  std::string_view name;
  std::int64_t unix_bytes, windows_bytes;
};

constexpr std::array kSizes = {
    NamedSize{"_Bool", 1, 1},
    NamedSize{"bool", 1, 1},
    NamedSize{"char", 1, 1},
    NamedSize{"signed char", 1, 1},
    NamedSize{"unsigned char", 1, 1},
    NamedSize{"char8_t", 1, 1},
    NamedSize{"std::byte", 1, 1},
    NamedSize{"short", 2, 2},
    NamedSize{"unsigned short", 2, 2},
    NamedSize{"char16_t", 2, 2},
    NamedSize{"int", 4, 4},
    NamedSize{"unsigned int", 4, 4},
    NamedSize{"unsigned", 4, 4},
    NamedSize{"char32_t", 4, 4},
    NamedSize{"wchar_t", 4, 2},
    NamedSize{"long", 8, 4},
    NamedSize{"unsigned long", 8, 4},
    NamedSize{"long long", 8, 8},
    NamedSize{"unsigned long long", 8, 8},
    NamedSize{"__int128", 16, 16},
    NamedSize{"unsigned __int128", 16, 16},
    NamedSize{"_Float16", 2, 2},
    NamedSize{"__bf16", 2, 2},
    NamedSize{"float", 4, 4},
    NamedSize{"double", 8, 8},
    NamedSize{"long double", 16, 8},
    NamedSize{"__float128", 16, 16},
    NamedSize{"_Complex float", 8, 8},
    NamedSize{"_Complex double", 16, 16},
    NamedSize{"_Complex long double", 32, 16},
    NamedSize{"decltype(nullptr)", 8, 8},
    NamedSize{"std::nullptr_t", 8, 8},
    NamedSize{"nullptr_t", 8, 8},
    NamedSize{"size_t", 8, 8},
    NamedSize{"std::size_t", 8, 8},
    NamedSize{"std::ptrdiff_t", 8, 8},
    NamedSize{"time_t", 8, 8},
    NamedSize{"__time_t", 8, 8},
    NamedSize{"__syscall_slong_t", 8, 8},
    NamedSize{"off_t", 8, 4},
    NamedSize{"pid_t", 4, 4},
    NamedSize{"ssize_t", 8, 8},
    NamedSize{"ptrdiff_t", 8, 8},
    NamedSize{"intptr_t", 8, 8},
    NamedSize{"uintptr_t", 8, 8},
    NamedSize{"int8_t", 1, 1},
    NamedSize{"uint8_t", 1, 1},
    NamedSize{"int16_t", 2, 2},
    NamedSize{"uint16_t", 2, 2},
    NamedSize{"int32_t", 4, 4},
    NamedSize{"uint32_t", 4, 4},
    NamedSize{"int64_t", 8, 8},
    NamedSize{"uint64_t", 8, 8},
    NamedSize{"u8", 1, 1},
    NamedSize{"u16", 2, 2},
    NamedSize{"u32", 4, 4},
    NamedSize{"u64", 8, 8},
    NamedSize{"__u8", 1, 1},
    NamedSize{"__u16", 2, 2},
    NamedSize{"__u32", 4, 4},
    NamedSize{"__u64", 8, 8},
};

// Types whose size does not depend on the ABI of a 32-bit program, apart from those of a pointer's size.
constexpr std::array<std::string_view, 8> kOfEightBytes = {"double", "long long", "unsigned long long", "int64_t", "uint64_t",
                                                           "u64",    "__u64",     "_Complex float"};
constexpr std::array<std::string_view, 10> kOfPointersSize = {
    "size_t",   "std::size_t", "std::ptrdiff_t", "ssize_t",        "ptrdiff_t",
    "intptr_t", "uintptr_t",   "nullptr_t",      "std::nullptr_t", "decltype(nullptr)"};

std::optional<std::int64_t> size_in(const NamedSize& named, Abi abi) {
  if (abi == Abi::unix64) return named.unix_bytes;
  if (abi == Abi::windows64) return named.windows_bytes;
  if (std::ranges::find(kOfPointersSize, named.name) != kOfPointersSize.end()) return kPointer / 2;
  const bool is_plain = named.windows_bytes <= 4 && named.name != "off_t" && named.name != "wchar_t";
  const bool is_wide = std::ranges::find(kOfEightBytes, named.name) != kOfEightBytes.end();
  return is_plain || is_wide ? std::optional(named.windows_bytes) : std::nullopt;
}

bool is_pointer(std::string_view type) {
  return type.ends_with('*') || type.ends_with('&');
}

// "__attribute__((__vector_size__(4 * sizeof(float)))) float"
std::optional<std::int64_t> vector_size(std::string_view type, Abi abi) {
  constexpr std::string_view kVector = "__vector_size__(", kTimes = " * sizeof(";
  const std::size_t at = type.find(kVector);
  if (at == type.npos) return std::nullopt;
  std::string_view text = type.substr(at + kVector.size());
  const auto elements = take_number(text);
  if (!elements || !text.starts_with(kTimes)) return std::nullopt;
  text.remove_prefix(kTimes.size());
  const auto element = c_size(text.substr(0, text.find(')')), abi);
  return element ? std::optional(*element * *elements) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> c_size(std::string_view type, Abi abi) {
  for (const std::string_view word : {"const ", "volatile "}) {
    if (type.starts_with(word)) return c_size(trimmed(type.substr(word.size())), abi);
  }
  for (const std::string_view word : {"const", "volatile", "restrict", "__restrict"}) {
    if (type.ends_with(word) && type.size() > word.size() && !is_pointer(type)) {
      const std::string_view before = trimmed(type.substr(0, type.size() - word.size()));
      if (is_pointer(before)) return c_size(before, abi);
    }
  }
  if (const auto vector = vector_size(type, abi)) return vector;
  const auto* const named = std::ranges::find(kSizes, type, &NamedSize::name);
  if (named != kSizes.end()) return size_in(*named, abi);
  const std::int64_t pointer = abi == Abi::any32 ? kPointer / 2 : kPointer;
  if (type.starts_with("std::") && type.ends_with("::size_type")) return pointer;
  if (abi != Abi::unix64 && type.find("::*") != type.npos) return std::nullopt;  // depends on the class's bases
  if (type.find("::*)(") != type.npos) return 2 * pointer;
  if (is_pointer(type) || type.find("(*)") != type.npos || type.find("(&)") != type.npos) return pointer;
  return std::nullopt;
}

}  // namespace linebounce::types
