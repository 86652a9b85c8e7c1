// Sections of ELF files, of either width and byte order.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

namespace linebounce::types {

// Numbers in a file's bytes. Every access is checked.
class ByteView {
 public:
  ByteView(std::string_view bytes, bool is_big_endian) : bytes_(bytes), is_big_endian_(is_big_endian) {}

  [[nodiscard]] std::int64_t size() const { return std::ssize(bytes_); }
  // An unsigned number of 1 to 8 bytes; none if it does not lie within, or is 2^63 or more.
  [[nodiscard]] std::optional<std::int64_t> number(std::int64_t at, int bytes) const;
  // Empty if it does not lie within.
  [[nodiscard]] std::string_view text(std::int64_t at, std::int64_t bytes) const;

 private:
  std::string_view bytes_;
  bool is_big_endian_;
};

bool is_elf(std::string_view bytes);

// The section's bytes; none if the file is not ELF, is damaged, or has no such section. Reads no more of the file than that.
std::optional<std::string> elf_section(std::istream& file, std::string_view name);

}  // namespace linebounce::types
