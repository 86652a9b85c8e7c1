// Declarations of members, as pahole and gdb print them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace linebounce::types {

struct Declaration {
  std::string name{};                    // empty: it has none
  std::string type{};                    // "struct page *", without array brackets; empty: the tool did not know it
  std::optional<std::int64_t> elements;  // of an array; 0: `[]`
  std::optional<std::int64_t> bits;      // of a bit-field
  std::int64_t alignment = 0;            // by __attribute__((__aligned__(N))); 0: none
  bool is_pointer_to_member = false, is_pointer_to_method = false;  // of a C++ class
};

// Splits "struct page *   pages[4] __attribute__((__aligned__(64)))", "void (*call)(int)" or "unsigned int   kind:3".
Declaration declaration_of(std::string_view text);

// The type's name alone: "const struct list_head" becomes "list_head".
std::string_view without_keywords(std::string_view type);

// Removes a decimal or, after 0x, hexadecimal number and the blanks before it from the start of `text`; none if there is none,
// or if it is too large for 63 bits.
std::optional<std::int64_t> take_number(std::string_view& text);

}  // namespace linebounce::types
